import { timestamp } from '@tartan/kube/clock';
import { hasArrived, type Verdict } from './judge-turn.ts';
import type { MachineFacts } from './machine-facts.ts';
import type { Turn } from './turn.ts';

export interface Judged {
  turn: Turn;
  machine: MachineFacts | undefined;
  verdict: Verdict;
}

/** The turn as it goes on, if it does. One that is late is used to put back what the Mac had. */
export const keep = ({ turn, machine, verdict }: Judged, now: number): Turn[] => {
  switch (verdict) {
    case 'done':
    case 'over':
    case 'passedOver':
    case 'rejected':
      return [];
    case 'late':
      if (machine === undefined || !hasArrived(turn, machine)) return [];
      return [{ ...turn, canary: false, rollBack: true, grantedAt: timestamp(now) }];
    case 'stranded':
    case 'failing':
    case 'busy':
      return [followIdle(turn, machine?.waitingForIdle ?? false, now)];
  }
};

/** A job may run for hours before its Mac is idle. That time is not the Mac's. */
const followIdle = (turn: Turn, waits: boolean, now: number): Turn => {
  const { waitsForIdle = false, ...rest } = turn;
  if (waits === waitsForIdle) return turn;
  return waits ? { ...turn, waitsForIdle: true } : { ...rest, grantedAt: timestamp(now) };
};
