/* Search in a page that was opened as a file: browsers refuse `new Worker` there, so the script runs in a hidden frame.
   The name of this file tells the `offline` plugin that it need not fetch a stand-in of its own. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>Search</title>";
      frame.addEventListener("load", () => this.start(frame.contentWindow, url), { once: true });
      const put = () => document.body.append(frame);
      if (document.body) put();
      else addEventListener("DOMContentLoaded", put, { once: true });
    }

    start(inside, url) {
      inside.postMessage = (message) => this.dispatchEvent(new MessageEvent("message", { data: message }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.addEventListener("load", () => {
        this.inside = inside;
        this.waiting.splice(0).forEach((message) => this.postMessage(message));
      });
      inside.document.body.append(script);
    }

    postMessage(message) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data: message }));
      else this.waiting.push(message);
    }
  };
}
