// Follows a stream: through the one that all pages of this browser share, or where browsers have no such thing, by itself.
import { Feed } from './feed.js';

const MUTE_MS = 90000; // Of two heartbeats and two attempts to come back, one would have been heard.

export class Follow {
  constructor(stream, tell) {
    this.stream = stream;
    this.tell = (name, data) => {
      this.heard = performance.now();
      tell(name, data);
    };
    if (!self.SharedWorker) return;
    try {
      const worker = new SharedWorker(new URL('./shared.js', import.meta.url), { type: 'module' });
      worker.onerror = () => this.alone();
      this.port = worker.port;
      this.port.onmessage = ({ data: { name, data } }) => this.joined && this.tell(name, data);
    } catch {
      this.port = null;
    }
  }

  join(after) {
    this.after = after;
    this.joined = true;
    this.heard = performance.now();
    if (this.port) this.port.postMessage({ join: { stream: this.stream, after } });
    else this.own ??= new Feed(this.stream, after, this.tell);
  }

  leave() {
    this.joined = false;
    this.port?.postMessage({ leave: true });
    this.own?.end();
    this.own = null;
  }

  soon() {
    this.port?.postMessage({ soon: this.stream });
    this.own?.soon();
  }

  look() {
    if (this.joined && this.port && performance.now() - this.heard > MUTE_MS) this.alone();
  }

  // The shared one does not work here, or has died.
  alone() {
    if (!this.port) return;
    this.port.postMessage({ leave: true });
    this.port = null;
    if (this.joined) this.join(this.after);
  }
}
