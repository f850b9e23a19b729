import type { EventInput } from '@tartan/kube';

/** Every event there is, with its type and what it says. One that would repeat on every pass is a condition instead. */
export type EventDefinition = readonly [type: 'Normal' | 'Warning', means: string];

export const events = {
  // A machine.
  Adopted: ['Normal', 'The machine holds a Mac.'],
  Provisioned: ['Normal', 'The machine holds a Mac and knows how to log in.'],
  CredentialsReclaimed: ['Normal', 'A password that was missing was found at Scaleway.'],
  Bootstrapping: ['Normal', 'The Mac is being made ready.'],
  Bootstrapped: ['Normal', 'The Mac is ready and its agent has joined.'],
  RebootingForRecovery: ['Normal', 'The Mac could not be made ready and is restarted, once.'],
  Reregistered: ['Normal', 'The Node was gone; the agent was told to register again.'],
  AgentRolled: ['Normal', 'The Mac has what it shall have.'],
  AgentRollRetried: ['Normal', 'A roll that was refused is tried again.'],
  Releasing: ['Normal', 'The Mac goes back to the pool.'],
  Released: ['Normal', 'The Mac has left the machine.'],
  NamespaceNotAllowed: ['Warning', 'The manager claims no Macs for this namespace.'],
  NodeNameTaken: ['Warning', 'A Node that is not this machine has its name.'],
  NoAdoptPoolPrefix: ['Warning', 'Nobody said which pool.'],
  PoolPrefixNotAllowed: ['Warning', 'The manager does not allow the pool that spec.adoptPoolPrefix names.'],
  InvalidOSPin: ['Warning', 'spec.os holds a version.'],
  NoAvailableHost: ['Warning', 'No Mac that fits is free.'],
  CredentialsRefreshFailed: ['Warning', 'Scaleway could not be asked for the password.'],
  MissingSudoPassword: ['Warning', 'Nobody knows the password of the Mac.'],
  GHRunnerRegistrationTokenUnavailable: ['Warning', 'GitHub gave no registration token.'],
  BootstrapFailed: ['Warning', 'The Mac could not be made ready. It is tried again.'],
  BootstrapExhausted: ['Warning', 'The Mac could not be made ready and goes back; another one is claimed.'],
  RebootForRecoveryFailed: ['Warning', 'Scaleway did not restart the Mac.'],
  HostNotWiped: ['Warning', 'The Mac had the disk of its last machine.'],
  NodeMissing: ['Warning', 'The Node was deleted by somebody.'],
  AgentRollFailed: ['Warning', 'The Mac could not be rolled.'],
  ReleaseSkipped: ['Warning', 'Nobody said which pool the Mac goes back to. It stays as it is, and costs money.'],
  ReleasedNotWiped: [
    'Warning',
    'Scaleway does not wipe the Mac. The machine goes; the Mac stays in quarantine until it is wiped.',
  ],
  HostAbandoned: ['Warning', 'A person has abandoned the Mac. The machine goes, and the Mac is not wiped.'],
  SecretKept: ['Warning', 'A Secret with the name of the machine was left alone: nothing proves that it is its own.'],
  DeleteFailed: ['Warning', 'Something that belongs to the machine could not be deleted. It is tried again.'],

  // A MacHost.
  Claimed: ['Normal', 'A machine holds the Mac.'],
  NameRepaired: ['Normal', 'The name at Scaleway was not the one it should be.'],
  WipeRequested: ['Normal', 'Scaleway was asked to reinstall the Mac.'],
  ReturnedToPool: ['Normal', 'The Mac was wiped and can be claimed.'],
  OtherOSWanted: ['Normal', 'The free Mac is reinstalled, since a machine waits for another macOS.'],
  Abandoned: ['Warning', 'A person has abandoned the Mac. Nothing is done to it any more.'],
  TakenByOthers: [
    'Warning',
    'Its name at Scaleway says that somebody else has the Mac. The claim or the release is given up, and nothing is wiped.',
  ],
  Reclaimed: ['Normal', 'A Mac that no machine knows is put back into the pool.'],
  WipeFailed: ['Warning', 'The reinstall failed. It is tried again.'],
  OSPinUnavailable: ['Warning', 'Scaleway has no image of that release family; its default is installed.'],
  Quarantined: ['Warning', 'Nobody claims the Mac for a while.'],
  Stranded: ['Warning', 'No machine knows the Mac and it is in no pool. Says what would be done, and why.'],
  ReclaimAborted: ['Warning', 'Who holds the Mac could not be checked, so nothing was done.'],

  // A MacFleet.
  RollStarted: ['Normal', 'Something new is wanted; the first machine has a turn.'],
  RollFinished: ['Normal', 'Every machine has what it shall have.'],
  Scaled: ['Normal', 'spec.replicas has changed and was written to the MachineDeployment.'],
  RollStopped: ['Warning', 'The roll does not go on by itself.'],

  // An ExternalControlPlane.
  KubeconfigMinted: ['Normal', 'The kubeconfig has a new token.'],
  KubeconfigFailed: ['Warning', 'The kubeconfig could not be written.'],
  KubeconfigLetGo: ['Normal', 'Somebody else has written the kubeconfig, as they should. It is theirs from now on.'],

  // A Pod on a Mac, by its agent. Where a kubelet has a word for it, it is the same.
  Pulling: ['Normal', 'The image is being fetched.'],
  Pulled: ['Normal', 'The image is here.'],
  CreatingVM: ['Normal', 'The Pod has a virtual machine of its own.'],
  Started: ['Normal', 'The virtual machine was started.'],
  Killing: ['Normal', 'The virtual machine is asked to shut down, or loses its power.'],
  Failed: ['Warning', 'The image could not be had, or the virtual machine not be made or started. It is tried again.'],
  FailedToRetrieveImagePullSecret: ['Warning', 'A Secret for the registry is missing or of no use.'],
  InvalidEnvironmentVariableNames: ['Warning', 'Keys that cannot be names of variables were left out.'],
  NotForMacs: ['Warning', 'The Pod is not made for Macs. It waits, and takes no slot.'],
  UnsupportedPod: ['Warning', 'The Pod is meant for a Mac, and cannot be a virtual machine.'],
  DeadlineExceeded: [
    'Warning',
    'The Pod was active for longer than its activeDeadlineSeconds, so it is ended and fails.',
  ],
  FieldsIgnored: ['Warning', 'The Pod has fields that mean nothing to a virtual machine. The message lists them.'],

  // Others.
  FleetSpread: ['Normal', 'The set of Ready Macs has changed, so the Deployment is rolled.'],
  FinalizerRemoved: ['Warning', 'The Node of the Pod is gone for good, so nobody else would remove its finalizer.'],
  PodReaped: ['Normal', 'The Pod had ended, and its object would have kept its Mac from being given back.'],

  // A RunnerPool, and its Pods.
  RunnerPodRetiredForNodeDrain: ['Normal', 'The Node is cordoned and the runner had no job.'],
  RunnerPodRetired: [
    'Normal',
    'The runner had no job, and gets none any more: there are too many, its image is old, or GitHub shows it as offline.',
  ],
  RunnerPodFinished: ['Normal', 'The runner has ended. Its Pod is taken away.'],
  RunnerPodFailed: ['Warning', 'The runner has ended badly. Its Pod is taken away.'],
  RunnerPodStuck: ['Warning', 'The Pod does not start, or does not go away.'],
  RunnerPodLost: ['Warning', 'The Mac of the Pod is gone, and the virtual machine with it.'],
} as const satisfies Record<string, EventDefinition>;

export type EventReason = keyof typeof events;

/** An event for a recorder. Its type follows from its reason; without a message it says what the reason means. */
export const buildEvent = (reason: EventReason, message: string = events[reason][1]): EventInput => ({
  type: events[reason][0],
  reason,
  message,
});
