import type { Clock } from '../clock/clock.ts';
import type { Check, Checks } from './check.ts';

export interface Finding {
  name: string;
  /** What is wrong, on one line; undefined when nothing is. */
  wrong: string | undefined;
  /** Was not asked, because the caller did not want it. */
  excluded?: boolean;
}

/** Probes give up after a second or more by default. A check that hangs is told apart from one that says no. */
const checkDeadlineMs = 800;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const ask = async (check: Check): Promise<string | undefined> => {
  try {
    const wrong = await check();
    return wrong === undefined ? undefined : oneLine(wrong);
  } catch (error) {
    return oneLine(error instanceof Error ? error.message : String(error));
  }
};

const askInTime = (check: Check, clock: Clock): Promise<string | undefined> =>
  new Promise((resolve) => {
    const takeBack = clock.after(checkDeadlineMs, () => resolve(`no answer within ${checkDeadlineMs} ms`));
    void ask(check).then((wrong) => {
      takeBack();
      resolve(wrong);
    });
  });

/** All at the same time, sorted by name. */
export const runChecks = async (checks: Checks, excluded: readonly string[], clock: Clock): Promise<Finding[]> => {
  const findings = [...checks].map(async ([name, check]): Promise<Finding> => {
    if (excluded.includes(name)) return { name, wrong: undefined, excluded: true };
    return { name, wrong: await askInTime(check, clock) };
  });
  return (await Promise.all(findings)).sort((a, b) => (a.name < b.name ? -1 : 1));
};
