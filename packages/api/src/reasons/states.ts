/** Enumerations on the wire, each value with its meaning. */

export const machinePhaseMeanings = {
  Pending: 'It has no Mac.',
  Adopting: 'It is claiming a Mac from the pool.',
  Bootstrapping: 'Its Mac is being prepared over SSH.',
  Ready: 'Its Node is Ready.',
  Updating: 'Its Mac has a turn and is being updated.',
  NotReady: 'It was Ready before, but its Node is not Ready or its Mac does not run.',
  Failed:
    'Its Mac rejected an update. It keeps its configuration; the manager retries after a while, or with another revision.',
  Deleting: 'It is being deleted: its Mac is released to the pool.',
} as const;

export const hostStateMeanings = {
  pool: 'Wiped, ready, and free to claim.',
  held: 'A machine holds it.',
  releasing: 'Being released to the pool. Its disk may still be that of its last machine.',
  quarantined:
    'It failed too often, or came back with its old disk. Machines do not claim it until its quarantine ends.',
  stranded: 'It is in no pool and no machine holds it. It costs money and is unused.',
  abandoned:
    'A person has set the annotation tuist.dev/abandon. Tartan does not change it until the annotation is removed.',
} as const;

export const releaseReasonMeanings = {
  MachineDeleted: 'The machine that held it was deleted.',
  BootstrapExhausted: 'It could not be prepared after repeated attempts.',
  Stranded: 'The sweep found it without a machine.',
  NotWiped: 'It came back with its old disk.',
  Requested: 'A person asked for it.',
  OtherOSWanted: 'It was free, and a machine waits for another release family of macOS.',
} as const;

const keysOf = <Word extends string>(meanings: Readonly<Record<Word, string>>): [Word, ...Word[]] => {
  const words = Object.keys(meanings).filter((word): word is Word => word in meanings);
  const [first, ...others] = words;
  if (first === undefined) throw new RangeError('a set of words has at least one');
  return [first, ...others];
};

export type MachinePhase = keyof typeof machinePhaseMeanings;
export const machinePhases = keysOf(machinePhaseMeanings);

export type HostState = keyof typeof hostStateMeanings;
export const hostStates = keysOf(hostStateMeanings);

export type ReleaseReason = keyof typeof releaseReasonMeanings;
export const releaseReasons = keysOf(releaseReasonMeanings);

/** Why a Pod on a Mac waits, as `kubectl get pods` shows it. Uses the kubelet's reason where there is one. */
export const podWaitMeanings = {
  ContainerCreating: 'The agent has seen the Pod.',
  WaitingForSlot:
    'As many virtual machines run or start on the Mac as it can run. The Pod starts when one of them ends.',
  Pulling: 'The image is being pulled; with a percentage if it is known.',
  FreeingSpace: 'The disk is full. Unused images are deleted before the image is pulled.',
  Cloning: 'The virtual machine of the Pod is being created.',
  Booting: 'The virtual machine is being started.',
  WaitingForIP: 'The virtual machine is on and has no address yet. A first boot takes minutes.',
  CrashLoopBackOff: 'It ended, and restarts from a clean disk after a while.',
  ErrImagePull: 'The image could not be pulled. The agent retries.',
  ImagePullBackOff: 'The image could not be pulled several times. The agent retries after a while.',
  ErrImageNeverPull: 'The image is not on the Mac, and `imagePullPolicy: Never` forbids pulling it.',
  InvalidImageName: 'The image of the container is not one that tart can pull.',
  CreateContainerConfigError: 'A ConfigMap, a Secret or a field that the container refers to is missing or invalid.',
  TokenRefused: 'A token that the Pod asks for was refused: a projected volume of the Pod must name its audience.',
  TartCreateFailed:
    'tart did not create or start the virtual machine, or no user is logged in at the console of the Mac.',
  TartDeleteFailed: 'tart did not delete the virtual machine. The agent retries.',
  TartUnreachable: 'The state of the virtual machine is unknown, so nothing is done.',
  PodGone: 'The API server does not have the Pod. Its virtual machine is deleted after two minutes.',
  NotForMacs: 'The Pod is not meant for Macs. It stays Pending, and uses no slot.',
  UnsupportedPod: 'The Pod is meant for a Mac, and cannot be a virtual machine. It fails for good.',
} as const;

export type PodWaitReason = keyof typeof podWaitMeanings | `Pulling ${number} %`;

/** How a virtual machine ended, as the container's `terminated` has it. Other programs match these by value. */
export const podEndMeanings = {
  Completed: 'The guest reported 0.',
  Error: 'The guest reported another number.',
  TartRunExited:
    'The virtual machine ended by itself without a reported result. The exit code is 0, without a meaning.',
  TartRunFailed:
    'tart failed, the framework gave up, the guest lost its network, its power was cut, or its end was not observed.',
  DeadlineExceeded: 'The Pod was active for longer than its `activeDeadlineSeconds`. It fails for good.',
} as const;

export type PodEndReason = keyof typeof podEndMeanings;

/** Whether a runner has a job: the reasons of `runnerBusyCondition`. */
export const runnerBusyMeanings = {
  JobStarted: 'True: a job has begun.',
  WaitsForJob: 'False: the runner has started, and no job has begun.',
  NotReported: 'Unknown: the guest has said nothing yet, or what it says cannot be read.',
} as const;

export type RunnerBusyReason = keyof typeof runnerBusyMeanings;

/** The message of that condition: which release of the runner the guest has. */
export const formatRunnerVersion = (version: string): string => `The runner is version ${version}.`;
export const parseRunnerVersion = (message: string | undefined): string | undefined =>
  /^The runner is version (\d{1,5}\.\d{1,5}\.\d{1,5})\.$/.exec(message ?? '')?.[1];
