// Tells the desk where the rider is: only after the rider has said so, and while this page is open.  What is said here about
// the desk is what the desk has answered.
const EVERY_MS = 15000;
const MOST = 20; // Of the latest positions, while there is no network.
const TIMEOUT_MS = 10000;
const DENIED = 1; // GeolocationPositionError.PERMISSION_DENIED

// What this device calls itself, and how far it has counted; anew where nothing can be kept.
const kept = {
  read(name) {
    try { return localStorage.getItem(`place-${name}`); } catch { return null; }
  },
  write(name, value) {
    try { localStorage.setItem(`place-${name}`, value); } catch { /* private windows keep nothing */ }
  },
};

export class Place {
  constructor(box) {
    if (!box || !navigator.geolocation || !isSecureContext) return;
    this.box = box;
    this.said = box.querySelector('[role=status]');
    this.button = box.querySelector('button');
    // Whether it is shared is said by each rider: a telephone may be handed on.
    this.on = `on-${box.dataset.rider}`;
    this.device = kept.read('device') ?? crypto.randomUUID();
    kept.write('device', this.device);
    this.seq = 0;
    this.waiting = [];
    this.button.addEventListener('click', () => (this.watch === undefined ? this.start() : this.stop('off')));
    addEventListener('online', () => this.send());
    if (kept.read(this.on) === '1') this.start();
    else this.stop('off');
    box.hidden = false;
  }

  start() {
    kept.write(this.on, '1');
    this.show('waiting');
    this.watch = navigator.geolocation.watchPosition(
      (found) => this.found(found),
      (error) => (error.code === DENIED ? this.stop('denied') : this.show('none')),
      { enableHighAccuracy: true, maximumAge: 5000 },
    );
    this.timer = setInterval(() => this.send(), EVERY_MS);
    this.label();
  }

  stop(why) {
    if (this.watch !== undefined) navigator.geolocation.clearWatch(this.watch);
    clearInterval(this.timer);
    this.watch = undefined;
    this.waiting = [];
    kept.write(this.on, '0');
    this.show(why);
    this.label();
  }

  label() {
    const on = this.watch !== undefined;
    this.button.setAttribute('aria-pressed', String(on));
    this.button.textContent = on ? this.box.dataset.stop : this.box.dataset.start;
  }

  show(word, at = '') {
    const text = this.box.dataset[word].replace('%', at);
    // Whoever listens to the page is not to hear the same again.
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  found({ coords, timestamp }) {
    // Another page of this browser may have counted on.
    this.seq = Math.max(this.seq, Number(kept.read('seq')) || 0) + 1;
    kept.write('seq', String(this.seq));
    const fix = { seq: this.seq, at: new Date(timestamp).toISOString(), lat: coords.latitude, lng: coords.longitude };
    if (Number.isFinite(coords.accuracy)) fix.accuracy_m = coords.accuracy;
    this.waiting.push(fix);
    this.waiting.splice(0, this.waiting.length - MOST);
    if (!this.told) this.send();
  }

  async send() {
    if (this.sending || !this.waiting.length) return;
    this.sending = true;
    const fixes = [...this.waiting];
    const word = document.querySelector('input[name=form]')?.value ?? '';
    const body = JSON.stringify({ fixes, device: this.device, sent_at: new Date().toISOString() });
    try {
      const answer = await fetch('/rider/location', {
        method: 'POST',
        body: new URLSearchParams({ form: word, body }),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.ok) {
        this.told = true;
        this.drop(fixes);
        const { kept: latest } = await answer.json();
        if (latest) this.show('told', new Date().toLocaleTimeString(document.documentElement.lang));
      } else if (answer.status < 500 && answer.status !== 429) {
        // It will not be taken another time either: signed out, or shut out.
        this.drop(fixes);
        this.show('refused');
      } else {
        this.show('kept');
      }
    } catch {
      this.show('kept');
    } finally {
      this.sending = false;
    }
  }

  drop(sent) {
    this.waiting = this.waiting.filter((fix) => !sent.includes(fix));
  }
}
