/** What happens at one point. */
export type Mode =
  /** The manager is killed: the effect never happens. */
  | 'killed before'
  /** The manager is killed: the effect has happened, and nobody heard of it. */
  | 'killed after'
  /** It happens, the answer gets lost, and the manager lives on. */
  | 'answer lost'
  /** Kubernetes refuses it once: somebody else was faster. */
  | 'conflict'
  /** Kubernetes finds a Secret invalid once, and says what is in it. */
  | 'refused'
  /** It happens, and the manager freezes before it hears so. Another one takes over; then the first one thaws. */
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

/** Counts the effects of one manager, and says when the moment has come. */
export interface FaultWatch {
  /** Every effect so far, in order. */
  readonly points: readonly Point[];
  /** The fault has struck. */
  readonly struck: boolean;
  meet(name: string): Mode | undefined;
}

export const createFaultWatch = (fault: Fault | undefined): FaultWatch => {
  const points: Point[] = [];
  const counts = new Map<string, number>();
  let struck = false;
  return {
    points,
    get struck() {
      return struck;
    },
    meet: (name) => {
      const nth = (counts.get(name) ?? 0) + 1;
      counts.set(name, nth);
      points.push({ name, nth });
      if (struck || fault === undefined || fault.name !== name || fault.nth !== nth) return undefined;
      struck = true;
      return fault.mode;
    },
  };
};
