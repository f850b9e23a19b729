import { sleep as wait } from '@tartan/kube/clock';
import type { Machine, Tool } from '../machine.ts';

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** sleep(1), at the pace of this Mac and by its clock. */
export const createSleep =
  (machine: Machine, signal: () => AbortSignal): Tool =>
  async ({ args: [word = ''] }) => {
    const { number, unit = '' } = /^(?<number>\d+\.?\d*|\.\d+)(?<unit>[smhd]?)$/.exec(word)?.groups ?? {};
    if (number === undefined) return { code: 1, stderr: 'usage: sleep number[unit] [...]\n' };
    const milliseconds = machine.pace(Number(number) * (units[unit] ?? 1) * 1000);
    if (milliseconds > 0) await wait(machine.clock, milliseconds, signal());
    return { code: 0 };
  };
