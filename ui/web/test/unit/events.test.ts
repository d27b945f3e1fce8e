import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream, type StreamEvent, type StreamHost } from '../../src/api/events';

class FakeSource extends EventTarget {
  closed = false;
  constructor(readonly query: string) {
    super();
  }
  close() {
    this.closed = true;
  }
  send(topic: string, data: unknown, id = '') {
    this.dispatchEvent(Object.assign(new Event(topic), { data: JSON.stringify(data), lastEventId: id }));
  }
}

/** A browser with several tabs: one lock and one channel for all. */
class FakeBrowser {
  sources: FakeSource[] = [];
  answer: 'ok' | 'away' | 'refused' = 'ok';
  probes = 0;
  private waiting: (() => void)[] = [];
  private led = false;
  private readonly bus: { tab: object; listener: (event: Event) => void }[] = [];

  tab() {
    const self = { visible: true, changed: () => {}, leaving: () => {} };
    const host: StreamHost = {
      open: (query) => {
        const source = new FakeSource(query);
        this.sources.push(source);
        return source as unknown as EventSource;
      },
      elect: (lead) => {
        if (this.led) this.waiting.push(lead);
        else lead();
        this.led = true;
      },
      channel: () => ({
        postMessage: (data: unknown) => {
          for (const { tab, listener } of this.bus) if (tab !== self) listener(Object.assign(new Event('message'), { data }));
        },
        addEventListener: (_: string, listener: unknown) => this.bus.push({ tab: self, listener: listener as (event: Event) => void }),
      }),
      probe: () => {
        this.probes += 1;
        return Promise.resolve(this.answer);
      },
      visible: () => self.visible,
      onVisibility: (changed) => (self.changed = changed),
      onLeave: (leaving) => (self.leaving = leaving),
      now: () => Date.now(),
    };
    const events: StreamEvent[] = [];
    const contacts: number[] = [];
    const stream = new EventStream(host);
    stream.onEvent = (event) => events.push(event);
    stream.onContact = (at) => contacts.push(at);
    stream.start();
    const show = (visible: boolean) => {
      self.visible = visible;
      self.changed();
    };
    return { stream, events, contacts, show, leave: () => self.leaving() };
  }

  /** The leading tab closes. */
  handOver() {
    this.last.close();
    this.waiting.shift()?.();
  }
  get last(): FakeSource {
    const source = this.sources.at(-1);
    if (!source) throw new Error('no stream was opened');
    return source;
  }
}

const note = (text: string) => ({ run: 'w', item: { t_us: 1, kind: 'note', step: null, text } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('one stream for all tabs', () => {
  it('is opened by one tab and shared', () => {
    const browser = new FakeBrowser();
    const [first, second] = [browser.tab(), browser.tab()];
    expect(browser.sources).toHaveLength(1);
    browser.last.send('feed', note('hello'), 'x-1');
    expect(first.events).toEqual([{ topic: 'feed', data: note('hello') }]);
    expect(second.events).toEqual(first.events);
    expect(second.contacts).toHaveLength(1);
  });
  it('goes on in another tab where the first one stopped', () => {
    const browser = new FakeBrowser();
    browser.tab();
    browser.tab();
    browser.last.send('feed', note('a'), 'x-41');
    browser.handOver();
    expect(browser.sources).toHaveLength(2);
    expect(browser.last.query).toContain('since=x-41');
  });
  it('carries alerts only while no tab is in sight', () => {
    const browser = new FakeBrowser();
    const [first, second] = [browser.tab(), browser.tab()];
    first.show(false);
    expect(browser.last.query).toContain('step');
    second.show(false);
    expect(browser.last.query).toBe('?topics=alert');
    browser.last.send('alert', { id: 'a' }, 'x-7');
    second.show(true);
    expect(browser.last.query).toContain('run,step');
    expect(browser.last.query).toContain('since=x-7');
    second.leave();
    expect(browser.last.query).toBe('?topics=alert&since=x-7');
  });
});

describe('trouble', () => {
  it('asks for everything again when the first stream opens and after a reset', () => {
    const browser = new FakeBrowser();
    const tabs = [browser.tab(), browser.tab()];
    browser.last.dispatchEvent(new Event('open'));
    browser.last.send('reset', {}, 'y-1');
    for (const { events } of tabs) expect(events.map(({ topic }) => topic)).toEqual(['reset', 'reset']);
  });
  it('connects again after a restart of the daemon, later each time, and says where it was', async () => {
    const browser = new FakeBrowser();
    browser.tab();
    browser.last.send('feed', note('a'), 'x-3');
    browser.answer = 'away';
    browser.last.dispatchEvent(new Event('error'));
    await vi.advanceTimersByTimeAsync(3_400); // 0.5 s, 1 s, 2 s … of which two have passed
    expect(browser.probes).toBe(2);
    expect(browser.sources).toHaveLength(1);
    browser.answer = 'ok';
    await vi.advanceTimersByTimeAsync(60_000);
    expect(browser.sources).toHaveLength(2);
    expect(browser.last.query).toContain('since=x-3');
  });
  it('asks for everything now and then while the daemon answers and takes no stream', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const polls: boolean[] = [];
    tab.stream.onPolling = (on) => void polls.push(on);
    const resets = () => tab.events.filter((event) => event.topic === 'reset').length;
    for (const wait of [500, 1_000, 2_000]) {
      browser.last.dispatchEvent(new Event('error'));
      await vi.advanceTimersByTimeAsync(wait);
    }
    expect(resets()).toBe(2);
    expect(polls).toEqual([true, true]);
    browser.last.dispatchEvent(new Event('open'));
    expect(polls.at(-1)).toBe(false);
  });
  it('stops when the daemon does not know us any more, until somebody signs in', async () => {
    const browser = new FakeBrowser();
    const { stream } = browser.tab();
    browser.answer = 'refused';
    browser.last.dispatchEvent(new Event('error'));
    await vi.advanceTimersByTimeAsync(120_000);
    expect(browser.probes).toBe(1);
    stream.reconnect();
    expect(browser.sources).toHaveLength(2);
  });
  it('asks a quiet daemon whether it is there, and reports no contact when it is not', async () => {
    const browser = new FakeBrowser();
    const { stream, contacts } = browser.tab();
    browser.last.dispatchEvent(new Event('open'));
    await vi.advanceTimersByTimeAsync(16_000);
    await stream.check();
    expect(contacts).toHaveLength(2);
    browser.answer = 'away';
    await vi.advanceTimersByTimeAsync(16_000);
    await stream.check();
    expect(contacts).toHaveLength(2);
  });
});
