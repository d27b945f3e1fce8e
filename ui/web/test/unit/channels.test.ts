import { describe, expect, it } from 'vitest';
import type { AlertChannel } from '../../src/api/types';
import { failureText } from '../../src/pages/alerts/Channels';

const nowMs = 1_000_000_000;
const channel = (over: Partial<AlertChannel>): AlertChannel => ({
  kind: 'webhook', name: 'https://alerts.example.org', min_level: 'warn', sent: 0, failed: 1, last_arrived: false,
  last_failed_us: (nowMs - 187_000) * 1000, last_failure: 'the server answers with status 404', ...over,
});

describe('a channel', () => {
  it('says that its last message failed, when and why', () => {
    expect(failureText(channel({}), nowMs)).toBe('✕ last message failed 3:07 ago: the server answers with status 404');
  });
  it('that works again says what was lost, and calls nothing a failure of now', () => {
    expect(failureText(channel({ sent: 2, failed: 3, last_arrived: true }), nowMs))
      .toBe('3 messages failed, the last 3:07 ago: the server answers with status 404');
  });
  it('writes out what could deceive the eye', () => {
    expect(failureText(channel({ last_failure: 'no \u202e' }), nowMs)).not.toContain('\u202e');
  });
});
