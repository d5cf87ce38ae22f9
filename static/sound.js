// Sounds, once somebody has asked for them: browsers let no page sound before it was touched.
const TONES = {
  // [hertz, seconds] one after the other.
  mine: [[880, 0.15], [1175, 0.15], [880, 0.15], [1175, 0.25]],
  lost: [[523, 0.2], [392, 0.3]],
  pool: [[659, 0.12], [659, 0.12], [659, 0.3]],
  away: [[330, 0.4]],
};
const QUIET_MS = 5000;

export class Sounds {
  constructor(button) {
    this.button = button;
    this.last = 0;
    if (!button) return;
    button.hidden = false;
    button.addEventListener('click', () => (this.on ? this.stop() : this.start()));
    this.show();
  }

  get on() {
    return this.context?.state === 'running';
  }

  async start() {
    this.context ??= new AudioContext();
    await this.context.resume();
    this.show();
    this.play('mine');
  }

  async stop() {
    await this.context.suspend();
    this.show();
  }

  show() {
    this.button.setAttribute('aria-pressed', String(this.on));
    this.button.textContent = this.on ? this.button.dataset.on : this.button.dataset.off;
  }

  play(name) {
    const now = performance.now();
    if (!this.on || (this.last && now - this.last < QUIET_MS)) return;
    this.last = now;
    let at = this.context.currentTime;
    for (const [hertz, seconds] of TONES[name]) {
      const [tone, volume] = [this.context.createOscillator(), this.context.createGain()];
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(0.2, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
      tone.connect(volume).connect(this.context.destination);
      tone.start(at);
      tone.stop(at + seconds);
      at += seconds;
    }
    if (name === 'mine') navigator.vibrate?.([200, 100, 200]);
  }
}
