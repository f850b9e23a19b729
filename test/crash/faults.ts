/** What happens at one point. */
export type Mode =
  /** The manager is killed before the effect. */
  | 'killed before'
  /** The manager is killed after the effect, before it sees the result. */
  | 'killed after'
  /** The effect happens, the answer gets lost, and the manager lives on. */
  | 'answer lost'
  /** Kubernetes answers once with a conflict: another client was faster. */
  | 'conflict'
  /** Kubernetes refuses a Secret once as invalid, and echoes its content. */
  | 'refused'
  /** The effect happens, and the manager freezes before it sees the result. Another one takes over; then the first one thaws. */
  | 'frozen';

export const modes: readonly Mode[] = ['killed before', 'killed after', 'answer lost', 'conflict', 'refused', 'frozen'];

/** The n-th effect of that name, counted from 1. */
export interface Point {
  readonly name: string;
  readonly nth: number;
}

export const pointText = ({ name, nth }: Point): string => `${name} #${nth}`;

export interface Fault extends Point {
  readonly mode: Mode;
}

/** Counts the effects of one manager, and returns the fault when its point is reached. */
export interface FaultWatch {
  /** Every effect so far, in order. */
  readonly points: readonly Point[];
  /** Whether the fault has occurred. */
  readonly occurred: boolean;
  record(name: string): Mode | undefined;
}

export const createFaultWatch = (fault: Fault | undefined): FaultWatch => {
  const points: Point[] = [];
  const counts = new Map<string, number>();
  let occurred = false;
  return {
    points,
    get occurred() {
      return occurred;
    },
    record: (name) => {
      const nth = (counts.get(name) ?? 0) + 1;
      counts.set(name, nth);
      points.push({ name, nth });
      if (occurred || fault === undefined || fault.name !== name || fault.nth !== nth) return undefined;
      occurred = true;
      return fault.mode;
    },
  };
};
