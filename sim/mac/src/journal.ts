import type { Journal } from './machine.ts';

export const createJournal = (): Journal => {
  const entries: { what: string; detail: string }[] = [];
  return { entries, record: (what, detail = '') => entries.push({ what, detail }) };
};
