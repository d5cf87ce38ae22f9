// The numbered stream, and when to come back to it. What it says is handed on as it comes, and beside it `gone`, as soon as
// the connection is known to be lost.

const DEAD_MS = 45000; // A heartbeat comes every 15 seconds.
const FIRST_BACK_OFF_MS = 1000;
const LONGEST_BACK_OFF_MS = 30000;
const NAMES = ['hello', 'event', 'changes', 'through', 'pool', 'ping', 'reset', 'bye'];

export class Feed {
  constructor(stream, after, tell) {
    this.stream = stream;
    this.cursor = after; // Up to which number it was read. Kept here: the browser's own memory ends with the connection.
    this.tell = tell;
    this.head = after;
    this.hello = null; // The last one, while there is a connection.
    this.epoch = '';
    this.tries = 0;
    this.clock = setInterval(() => this.look(), 1000);
    this.connect();
  }

  connect() {
    const url = new URL(this.stream, location.href);
    url.searchParams.set('after', String(this.cursor));
    if (this.epoch) url.searchParams.set('epoch', this.epoch);
    this.heard = performance.now();
    this.source = new EventSource(url);
    this.source.onerror = () => this.lost();
    for (const name of NAMES) {
      this.source.addEventListener(name, (event) => this.word(name, JSON.parse(event.data)));
    }
  }

  word(name, data) {
    this.heard = performance.now();
    if (name === 'hello' || name === 'reset') this.cursor = data.after;
    else this.cursor = data.through ?? data.number ?? this.cursor;
    this.head = Math.max(name === 'reset' ? 0 : this.head, data.head ?? 0, this.cursor);
    if (name === 'hello') {
      this.tries = 0;
      this.hello = data;
      this.epoch = data.epoch ?? '';
    }
    this.tell(name, data);
    if (name === 'bye') this.lost();
  }

  look() {
    if (this.source && performance.now() - this.heard > DEAD_MS) this.lost();
  }

  // With full jitter: when a server comes back, not everybody comes at one moment.
  lost() {
    this.close();
    this.tell('gone', {});
    const most = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** this.tries);
    this.tries += 1;
    this.again = setTimeout(() => this.connect(), Math.random() * most);
  }

  // The network is back: no need to wait any longer.
  soon() {
    this.tries = 0;
    this.lost();
  }

  close() {
    clearTimeout(this.again);
    this.source?.close();
    this.source = null;
    this.hello = null;
  }

  end() {
    clearInterval(this.clock);
    this.close();
  }
}
