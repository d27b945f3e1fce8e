import type { EventMap, Topic } from './types';

/** One event of the daemon's stream. */
export type StreamEvent = { [T in Topic]: { topic: T; data: EventMap[T] } }[Topic];

const topics: Topic[] = ['run', 'step', 'heat', 'replica', 'task', 'alert', 'feed', 'reset'];
const retryMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const quietMs = 15_000; // without an event for so long the daemon is asked whether it is there

/** What this module needs of the browser; tests bring their own. */
export interface StreamHost {
  open(query: string): EventSource;
  /** Calls `lead` in exactly one tab of the browser at a time; where tabs cannot agree, in each. */
  elect(lead: () => void): void;
  channel(): Pick<BroadcastChannel, 'postMessage' | 'addEventListener'> | null;
  /** Whether the daemon answers; "refused": it does not know us any more. */
  probe(): Promise<'ok' | 'away' | 'refused'>;
  visible(): boolean;
  onVisibility(changed: () => void): void;
  onLeave(leaving: () => void): void;
  now(): number;
}

/** What tabs tell each other. */
type Message =
  | { what: 'event'; event: StreamEvent; id: string }
  | { what: 'contact'; at: number }
  | { what: 'polling'; on: boolean }
  | { what: 'tab'; tab: string; visible: boolean }
  | { what: 'gone'; tab: string }
  | { what: 'roll call' };

/**
 * The live stream. One tab of the browser, the leader, holds the EventSource and shares what comes with the others,
 * because a browser opens no more than six connections to one host. While all tabs are hidden only alerts come.
 */
export class EventStream {
  /** Called for each event, in each tab. */
  onEvent: (event: StreamEvent) => void = () => {};
  /** Called when the daemon was heard of; the time is the host's. */
  onContact: (at: number) => void = () => {};
  /** Called when the daemon answers and takes no stream, so that everything is asked again now and then; and when it does. */
  onPolling: (on: boolean) => void = () => {};

  private readonly tab = Math.random().toString(36).slice(2);
  private readonly tabs = new Map<string, boolean>(); // visible?
  private channel: ReturnType<StreamHost['channel']> = null;
  private source: EventSource | null = null;
  private query = '';
  private lastId = '';
  private heardAt = 0;
  private failures = 0;
  private leading = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: StreamHost) {}

  start(): void {
    this.channel = this.host.channel();
    this.channel?.addEventListener('message', (message) => this.receive((message as MessageEvent<Message>).data));
    this.say({ what: 'tab', tab: this.tab, visible: this.host.visible() });
    this.host.onVisibility(() => {
      this.say({ what: 'tab', tab: this.tab, visible: this.host.visible() });
      if (this.leading) this.adjust();
    });
    this.host.onLeave(() => this.say({ what: 'gone', tab: this.tab }));
    this.host.elect(() => {
      this.leading = true;
      this.say({ what: 'roll call' });
      this.adjust();
    });
  }

  /** Looks whether the stream went quiet; to be called every few seconds. */
  async check(): Promise<void> {
    if (!this.leading || this.host.now() - this.heardAt < quietMs) return;
    if ((await this.host.probe()) === 'ok') this.heard();
  }

  /** Connects now instead of at the next attempt, for instance after signing in. */
  reconnect(): void {
    if (this.leading) this.connect();
  }

  /** Closes the stream until reconnect(). */
  stop(): void {
    clearTimeout(this.timer);
    this.source?.close();
  }

  private say(message: Message): void {
    this.channel?.postMessage(message);
  }

  private receive(message: Message): void {
    if (message.what === 'event') {
      this.lastId = message.id;
      this.onEvent(message.event);
    } else if (message.what === 'contact') {
      this.onContact(message.at);
    } else if (message.what === 'polling') {
      this.onPolling(message.on);
    } else if (message.what === 'roll call') {
      this.say({ what: 'tab', tab: this.tab, visible: this.host.visible() });
    } else {
      if (message.what === 'tab') this.tabs.set(message.tab, message.visible);
      else this.tabs.delete(message.tab);
      if (this.leading) this.adjust();
    }
  }

  /** Opens the stream with the topics that are wanted now, unless it is open with them. */
  private adjust(): void {
    const anyVisible = this.host.visible() || [...this.tabs.values()].some((visible) => visible);
    const wanted = `?topics=${anyVisible ? 'run,step,heat,replica,task,alert,feed' : 'alert'}`;
    if (this.source !== null && this.query === wanted) return;
    this.query = wanted;
    this.connect();
  }

  private connect(): void {
    this.stop();
    const since = this.lastId === '' ? '' : `&since=${encodeURIComponent(this.lastId)}`;
    const source = this.host.open(this.query + since);
    this.source = source;
    source.addEventListener('open', () => {
      this.heard();
      this.poll(false);
      // What happened between the page's first requests and now came over no stream.
      if (since === '') this.share({ topic: 'reset', data: {} });
    });
    for (const topic of topics) {
      source.addEventListener(topic, (event) => this.take(topic, event as MessageEvent<string>));
    }
    source.addEventListener('error', () => {
      if (this.source === source) this.retry(source);
    });
  }

  private take(topic: Topic, raw: MessageEvent<string>): void {
    this.heard();
    if (raw.lastEventId !== '') this.lastId = raw.lastEventId;
    this.share({ topic, data: JSON.parse(raw.data || '{}') } as StreamEvent);
  }

  private share(event: StreamEvent): void {
    this.say({ what: 'event', event, id: this.lastId });
    this.onEvent(event);
  }

  private heard(): void {
    this.failures = 0;
    this.heardAt = this.host.now();
    this.say({ what: 'contact', at: this.heardAt });
    this.onContact(this.heardAt);
  }

  /** The browser's own attempts end at the first bad answer, so they are ours, further apart each time. */
  private retry(source: EventSource): void {
    source.close();
    const wait = retryMs[Math.min(this.failures, retryMs.length - 1)] ?? 0;
    this.failures += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.tryAgain(source), wait);
  }

  private async tryAgain(source: EventSource): Promise<void> {
    const answer = await this.host.probe();
    if (this.source !== source) return;
    if (answer === 'ok') {
      if (this.failures > 1) this.poll(true);
      this.connect();
    } else if (answer === 'away') this.retry(source);
  }

  /** The daemon refuses another stream while too many are open: each attempt then asks for everything instead. */
  private poll(on: boolean): void {
    this.say({ what: 'polling', on });
    this.onPolling(on);
    if (!on) return;
    this.share({ topic: 'reset', data: {} });
    this.heardAt = this.host.now();
    this.onContact(this.heardAt);
  }
}
