export const THEMES = ['system', 'light', 'dark'] as const;
export const DENSITIES = ['comfortable', 'compact'] as const;
export type Theme = (typeof THEMES)[number];
export type Density = (typeof DENSITIES)[number];

/** A remembered value that is still one of the choices, else the first of them. */
export function choice<Value extends string>(
  choices: readonly [Value, ...Value[]],
  value: string | null,
): Value {
  return choices.find((known) => known === value) ?? choices[0];
}

/** The choice that follows, round and round. */
export function following<Value extends string>(
  choices: readonly [Value, ...Value[]],
  value: Value,
): Value {
  return choices[(choices.indexOf(value) + 1) % choices.length] ?? choices[0];
}

export function shownTheme(theme: Theme, systemIsDark: boolean): 'light' | 'dark' {
  if (theme === 'system') return systemIsDark ? 'dark' : 'light';
  return theme;
}
