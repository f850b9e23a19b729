import type { MacFleetStatus } from '@tartan/api';
import type { Turn } from './turn.ts';

type Stop = NonNullable<MacFleetStatus['stop']>;
type PassedOver = NonNullable<MacFleetStatus['passedOver']>[number];

/**
 * What the controller remembers of a roll: kept in the status, written before the push that it allows. Losing it costs another canary
 * and never a Mac.
 */
export interface Memory {
  revision: string | undefined;
  provenRevision: string | undefined;
  rollStartedAt: string | undefined;
  stalledRevision: string | undefined;
  stop: Stop | undefined;
  turns: readonly Turn[];
  /**
   * Machines whose turn ended before they were done. Those wait a while, and go last. It is also how a Mac that went down in its turn is
   * told from one that was down before: the former may hold half a push, so it gets another turn though it is not Ready.
   */
  passedOver: readonly PassedOver[];
}

export const memoryOf = (status: MacFleetStatus | undefined): Memory => ({
  revision: status?.revision,
  provenRevision: status?.provenRevision,
  rollStartedAt: status?.rollStartedAt,
  stalledRevision: status?.stalledRevision,
  stop: status?.stop,
  turns: status?.turns ?? [],
  passedOver: status?.passedOver ?? [],
});

type Remembered = Pick<MacFleetStatus, keyof Memory>;

export const rememberedAs = (memory: Memory): Remembered => {
  const { revision, provenRevision, rollStartedAt, stalledRevision, stop, turns, passedOver } = memory;
  return {
    ...(revision !== undefined && { revision }),
    ...(provenRevision !== undefined && { provenRevision }),
    ...(rollStartedAt !== undefined && { rollStartedAt }),
    ...(stalledRevision !== undefined && { stalledRevision }),
    ...(stop && { stop }),
    ...(turns.length > 0 && { turns }),
    ...(passedOver.length > 0 && { passedOver }),
  };
};
