import { timestamp } from '@tartan/kube/clock';
import type { Limits } from './judge-turn.ts';
import type { Judged } from './judged.ts';
import { isSettled, type MachineFacts, takesPart } from './machine-facts.ts';
import type { Memory } from './memory.ts';

interface World {
  machines: readonly MachineFacts[];
  revision: string;
  now: number;
  limits: Limits;
}

/** The stop that holds: the one there is, unless it is lifted, or else the first new one. */
export const stopOf = (
  judged: readonly Judged[],
  { machines, revision, now, limits }: World,
  memory: Memory,
): Memory['stop'] => {
  const { stop, stalledRevision } = memory;
  const isOver = stop && limits.retryAfterMs !== undefined && now - Date.parse(stop.at) >= limits.retryAfterMs;
  const isMoot = memory.turns.length === 0 && machines.filter(takesPart).every(isSettled);
  if (stop && stalledRevision === revision && !isOver && !isMoot) return stop;
  const [first] = judged.flatMap(({ turn, machine, verdict }) =>
    verdict === 'rejected' || verdict === 'late' ? [{ turn, machine, verdict }] : [],
  );
  if (first === undefined) return undefined;
  const { turn, machine, verdict } = first;
  const rejected = verdict === 'rejected';
  return {
    reason: rejected ? ('PushRejected' as const) : ('GateDeadlineExceeded' as const),
    machine: turn.machine,
    message: machine?.complaint ?? (rejected ? 'It refused what was sent to it.' : 'It is not Ready.'),
    at: timestamp(now),
  };
};
