import { describe, expect, it } from 'vitest';
import { AGENT_LIMIT, agentName } from './agent';

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';

describe('a user agent in words', () => {
  it.each([
    [`Mozilla/5.0 (X11; Linux x86_64) ${CHROME} Safari/537.36`, 'Chrome 142 on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/142.0.1`, 'Edge 142 on Windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox 145 on Linux'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
      'Safari 26 on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari 18 on iPhone',
    ],
    [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`, 'Chrome 142 on Android'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', 'Unknown program'],
    [null, 'Unknown program'],
  ])('%s', (agent, name) => {
    expect(agentName(agent)).toBe(name);
  });

  it('cuts what is too long', () => {
    expect(agentName('x'.repeat(1_000))).toHaveLength(AGENT_LIMIT + 1);
  });
});
