export const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

/** What every line begins with. */
export interface Head {
  ts: string;
  level: Level;
  msg: string;
}
