/** Closed sets of words on the wire, each with its meaning. */

export const machinePhaseMeanings = {
  Pending: 'It has no Mac.',
  Adopting: 'It is claiming a Mac from the pool.',
  Bootstrapping: 'Its Mac is being made ready over SSH.',
  Ready: 'Its Node is Ready.',
  Updating: 'Its Mac has a turn and is being rolled.',
  NotReady: 'It was made ready once, but its Node is not Ready or its Mac does not run.',
  Failed:
    'Its Mac refused a roll. It runs on with what it had; the roll is tried again after a while, or when something else is wanted.',
  Deleting: 'It is being deleted: its Mac goes back to the pool.',
} as const;

export const hostStateMeanings = {
  pool: 'Wiped, ready, and free to claim.',
  held: 'A machine holds it.',
  releasing: 'On its way back to the pool. Its disk may still be that of its last machine.',
  quarantined: 'It failed too often, or came back with its old disk. Nobody claims it until the time is over.',
  stranded: 'It is not in a pool and no machine knows it. It costs money and does nothing.',
  abandoned:
    'A person has set the annotation tuist.dev/abandon. Nothing is done to it until the annotation is removed.',
} as const;

export const releaseReasonMeanings = {
  MachineDeleted: 'The machine that held it was deleted.',
  BootstrapExhausted: 'It could not be made ready, however often it was tried.',
  Stranded: 'The sweep found it without a machine.',
  NotWiped: 'It came back with its old disk.',
  Requested: 'A person asked for it.',
  OtherOSWanted: 'It was free, and a machine waits for another release family of macOS.',
} as const;

const wordsOf = <Word extends string>(meanings: Readonly<Record<Word, string>>): [Word, ...Word[]] => {
  const words = Object.keys(meanings).filter((word): word is Word => word in meanings);
  const [first, ...others] = words;
  if (first === undefined) throw new RangeError('a set of words has at least one');
  return [first, ...others];
};

export type MachinePhase = keyof typeof machinePhaseMeanings;
export const machinePhases = wordsOf(machinePhaseMeanings);

export type HostState = keyof typeof hostStateMeanings;
export const hostStates = wordsOf(hostStateMeanings);

export type ReleaseReason = keyof typeof releaseReasonMeanings;
export const releaseReasons = wordsOf(releaseReasonMeanings);
