/** What a roll has to know of a machine. */
export interface MachineFacts {
  name: string;
  uid: string;
  /** Its Mac was made ready once. */
  provisioned: boolean;
  deleting: boolean;
  /** Nobody works on it: it has the annotation, or its cluster is paused. */
  paused: boolean;
  ready: boolean;
  /** Since when it is not Ready; undefined also when nobody knows. */
  notReadySince: number | undefined;
  desired: string | undefined;
  /** The release of the manager that said so. */
  plannedBy: string | undefined;
  /** What its agent says that the Mac has; while that is down, what the last push left there. */
  actual: string | undefined;
  /** What the last push left there. An agent that does not start any more never says so itself. */
  pushed: string | undefined;
  /** What the Mac refused. */
  failed: string | undefined;
  /** Failed pushes in a row. */
  attempts: number;
  lastFailure: number | undefined;
  /** The last push found nobody at the address (I-52). */
  unreachable: boolean;
  waitingForIdle: boolean;
  /** Why it does not have what it shall have, in its own words. */
  complaint: string | undefined;
}

/** Whether it counts at all: one without a Mac, or on its way out, is nobody to roll. */
export const takesPart = ({ provisioned, deleting }: MachineFacts): boolean => provisioned && !deleting;

export const isUpdated = ({ desired, actual }: MachineFacts): boolean => desired !== undefined && actual === desired;

export const isOutdated = (machine: MachineFacts): boolean =>
  takesPart(machine) && machine.desired !== undefined && !isUpdated(machine);

/** Nothing is left to do for it. */
export const isSettled = (machine: MachineFacts): boolean => machine.ready && isUpdated(machine);
