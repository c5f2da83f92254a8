# Both README commands work in this image:
#   docker build -t recassay . && docker run --rm recassay demo
#   docker run --rm recassay test -m "not long"
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git chromium && rm -rf /var/lib/apt/lists/*
WORKDIR /recassay
COPY . .
# Install once, with what the tests need, so that `docker run` starts at once.
RUN python3 dev.py lint
ENTRYPOINT ["python3", "dev.py"]
CMD ["demo"]
