RecAssay.start = () => {
  const data = JSON.parse(RecAssay.find("board-data").textContent);
  RecAssay.data = data;
  RecAssay.startTheme();
  RecAssay.startCharts([...data.algorithms.map((algorithm) => algorithm.name), ...data.datasets], data.about);
  if (RecAssay.find("board") && data.metrics.length) RecAssay.startBoard(data);
  RecAssay.startFolds();
  RecAssay.startFind();
};
RecAssay.start();
