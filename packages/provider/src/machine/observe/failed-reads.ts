import type { Clock } from '@tartan/kube/clock';
import type { Machine } from '../../controller-deps.ts';
import type { FailedRead } from '../snapshot.ts';

/** Failed reads of logins from Scaleway. In memory, on the monotonic clock. Another server or another spec of the machine starts anew. */
export const createFailedReads = (clock: Pick<Clock, 'monotonic'>) => {
  const reads = new Map<
    string,
    Pick<FailedRead, 'outcome' | 'inARow'> & { readonly of: string; readonly at: number }
  >();
  const lastOf = (machine: Machine) => {
    const read = reads.get(machine.metadata.uid);
    return read?.of === subjectOf(machine) ? read : undefined;
  };
  return {
    of: (machine: Machine): FailedRead | undefined => {
      const read = lastOf(machine);
      return read && { outcome: read.outcome, inARow: read.inARow, forMs: clock.monotonic() - read.at };
    },
    record: (machine: Machine, outcome: FailedRead['outcome']): void => {
      const before = lastOf(machine);
      const inARow = before?.outcome === outcome ? before.inARow + 1 : 1;
      reads.set(machine.metadata.uid, { of: subjectOf(machine), outcome, inARow, at: clock.monotonic() });
    },
    forget: (uid: string): unknown => reads.delete(uid),
  };
};

const subjectOf = ({ metadata, status }: Machine): string => `${metadata.generation} ${status?.serverID}`;
