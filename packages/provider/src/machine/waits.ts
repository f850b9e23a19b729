/** How long the machine controller waits for what, when nothing wakes it up before. In milliseconds. */
export const waits = {
  /** Something that only a person can mend. */
  person: 5 * 60_000,
  /** A Mac to become free: changes of MacHosts wake it up as well. */
  host: 60_000,
  /** Another part of this manager, which tells when it is done. */
  others: 30_000,
  /** After a bootstrap or a roll that failed. Often enough dialled, a Mac's SSH server stops to answer (I-51). */
  afterFailure: 60_000,
  /** A Mac that does not answer gives its turn to another one; after this it is tried again. */
  unreachable: 5 * 60_000,
  /** Somebody else works on the Mac. */
  locked: 30_000,
  /** The agent restarts after a push, and then says what the Mac has. */
  afterPush: 60_000,
  /** All pushes that may run at a time run. */
  slot: 5000,
  /** A restart. Beyond this a Mac that does not come back counts as unreachable. */
  reboot: 10 * 60_000,
  /** How long a Node may be missing before its agent is told to register again: it does that by itself at first. */
  nodeMissing: 2 * 60_000,
  /** Virtual machines to end. Nobody tells. */
  idle: 15_000,
  /** A Node's Lease and its certificate, right after it has joined. */
  joined: 30_000,
  /** Nothing at all. */
  nothing: 5 * 60_000,
  /** Somebody else has written the machine: look at what it is now. */
  conflict: 1000,
} as const;
