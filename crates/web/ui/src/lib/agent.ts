/** Longer names of programs are cut; the whole one is shown on hover. */
export const AGENT_LIMIT = 60;

const BROWSERS: readonly [string, RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly [string, RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** A `User-Agent` in words: "Firefox 145 on Linux". What is not known is shown as it came. */
export function agentName(agent: string | null): string {
  if (agent === null || agent === '') return 'Unknown program';
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(agent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, known]) => known.test(agent))?.[0];
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return agent.length > AGENT_LIMIT ? `${agent.slice(0, AGENT_LIMIT)}…` : agent;
}
