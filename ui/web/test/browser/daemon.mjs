import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
export const program = process.env.DELTASCOPE ?? join(repository, 'build/release/bin/deltascope');
export const golden = (name) => join(repository, 'tests/golden', name, 'bucket');

/** The token that the tests sign in with; a fresh daemon knows it again, unlike its one-time code. */
export const token = 'a-token-of-the-browser-tests-0123456789';

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A folder with copies of golden buckets, and a daemon that serves them. */
export class Daemon {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'deltascope-browser-'));
    this.tokens = join(this.home, 'tokens');
    writeFileSync(this.tokens, `tester admin ${token}\n`, { mode: 0o600 });
    this.output = join(this.home, 'out');
    this.sources = [];
    this.log = '';
    this.patience = 20; // seconds until every source is opened
  }

  /** Copies a golden bucket; `keep` says which files, all by default. */
  add(name, as = name, keep = () => true) {
    const to = join(this.home, 'buckets', as);
    mkdirSync(to, { recursive: true });
    cpSync(golden(name), to, { recursive: true, filter: keep });
    this.sources.push(to);
    return to;
  }

  async start(...options) {
    this.port ??= await freePort();
    const args = ['serve', ...this.sources, '--listen', `127.0.0.1:${this.port}`, '--token-file', this.tokens, '--output', this.output, ...options];
    this.process = spawn(program, args, { env: { ...process.env, DELTASCOPE_HOME: join(this.home, 'home') } });
    const url = await new Promise((resolve, reject) => {
      const hear = (data) => {
        this.log += data;
        const found = /(http:\/\/\S+?)#k=([\w.~-]+)/.exec(this.log);
        if (found) resolve({ address: found[1], code: found[2] });
      };
      this.process.stdout.on('data', hear);
      this.process.stderr.on('data', hear);
      this.process.on('exit', (status) => reject(new Error(`the daemon ended with ${status}: ${this.log}`)));
      setTimeout(() => reject(new Error(`the daemon printed no address: ${this.log}`)), 20_000).unref();
    });
    this.address = url.address;
    this.code = url.code;
    await this.ready();
  }

  async ready() {
    for (let i = 0; i < 10 * this.patience; i += 1) {
      const answer = await fetch(`${this.address}readyz`).catch(() => null);
      if (answer?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the daemon did not become ready: ${this.log}`);
  }

  async stop() {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.kill('SIGTERM');
    await ended;
    this.log = '';
  }

  async remove() {
    await this.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** JSON of the API, as a script would read it. */
  async get(path) {
    const answer = await fetch(`${this.address}api/v1/${path}`, { headers: { Authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/** Gives tensors of all checkpoints below a folder other names. */
export function renameTensors(folder, rename) {
  for (const entry of readdirSync(folder, { recursive: true })) {
    if (!String(entry).endsWith('.safetensors')) continue;
    const file = join(folder, String(entry));
    const bytes = readFileSync(file);
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
    const renamed = Object.fromEntries(Object.entries(header).map(([name, value]) => [rename(name), value]));
    const text = Buffer.from(JSON.stringify(renamed));
    const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(padded.length));
    writeFileSync(file, Buffer.concat([size, padded, bytes.subarray(8 + length)]));
  }
}
