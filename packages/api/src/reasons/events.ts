import type { EventInput } from '@tartan/kube';

/** All events, with type and meaning. One that would repeat on every pass is a condition instead. */
export type EventDefinition = readonly [type: 'Normal' | 'Warning', means: string];

export const events = {
  // A machine.
  Adopted: ['Normal', 'The machine holds a Mac.'],
  Provisioned: ['Normal', 'The machine holds a Mac and knows how to log in.'],
  CredentialsReclaimed: ['Normal', 'A password that was missing was found at Scaleway.'],
  Bootstrapping: ['Normal', 'The Mac is being prepared.'],
  Bootstrapped: ['Normal', 'The Mac is ready and its agent has joined.'],
  RebootingForRecovery: ['Normal', 'The Mac could not be prepared and is restarted, once.'],
  Reregistered: ['Normal', 'The Node was gone; the manager restarts the agent, which registers it again.'],
  AgentRolled: ['Normal', 'The Mac has the desired configuration.'],
  AgentRollRetried: ['Normal', 'A rejected update is retried.'],
  Releasing: ['Normal', 'The Mac is being released to the pool.'],
  Released: ['Normal', 'The machine has released its Mac.'],
  NamespaceNotAllowed: ['Warning', 'The manager claims no Macs for this namespace.'],
  NodeNameTaken: ['Warning', 'A Node that is not this machine has its name.'],
  NoAdoptPoolPrefix: ['Warning', 'The pool is not configured.'],
  PoolPrefixNotAllowed: ['Warning', 'The manager does not allow the pool that spec.adoptPoolPrefix names.'],
  InvalidOSPin: ['Warning', 'spec.os holds a version.'],
  NoAvailableHost: ['Warning', 'No Mac that fits is free.'],
  CredentialsRefreshFailed: ['Warning', 'The password could not be read from Scaleway.'],
  MissingSudoPassword: ['Warning', 'The password of the Mac is unknown.'],
  GHRunnerRegistrationTokenUnavailable: ['Warning', 'GitHub gave no registration token.'],
  BootstrapFailed: ['Warning', 'The Mac could not be prepared. The manager retries.'],
  BootstrapExhausted: ['Warning', 'The Mac could not be prepared and is released. The machine claims another one.'],
  RebootForRecoveryFailed: ['Warning', 'Scaleway did not restart the Mac.'],
  HostNotWiped: ['Warning', 'The Mac still had the disk of its previous machine.'],
  NodeMissing: ['Warning', 'The Node was deleted.'],
  AgentRollFailed: ['Warning', 'The Mac could not be updated.'],
  ReleaseSkipped: ['Warning', 'The pool for the release is not configured. The Mac is not released, and costs money.'],
  ReleasedNotWiped: [
    'Warning',
    'Scaleway does not wipe the Mac. The machine is deleted; the Mac stays in quarantine until it is wiped.',
  ],
  HostAbandoned: ['Warning', 'A person has abandoned the Mac. The machine is deleted, and the Mac is not wiped.'],
  SecretKept: ['Warning', 'A Secret with the name of the machine was kept: it does not belong to the machine.'],
  DeleteFailed: ['Warning', 'An object of the machine could not be deleted. The manager retries.'],

  // A MacHost.
  Claimed: ['Normal', 'A machine holds the Mac.'],
  NameRepaired: ['Normal', 'The name at Scaleway was wrong and is corrected.'],
  WipeRequested: ['Normal', 'Scaleway was asked to reinstall the Mac.'],
  ReturnedToPool: ['Normal', 'The Mac was wiped and can be claimed.'],
  OtherOSWanted: ['Normal', 'The free Mac is reinstalled, since a machine waits for another macOS.'],
  Abandoned: ['Warning', 'A person has abandoned the Mac. Tartan does not change it.'],
  TakenByOthers: [
    'Warning',
    'Its name at Scaleway shows that another user has the Mac. The manager gives up the claim or the release, and wipes nothing.',
  ],
  Reclaimed: ['Normal', 'A stranded Mac is returned to the pool.'],
  WipeFailed: ['Warning', 'The reinstall failed. The manager retries.'],
  OSPinUnavailable: ['Warning', 'Scaleway has no image of that release family; its default is installed.'],
  Quarantined: ['Warning', 'Machines do not claim the Mac for a while.'],
  Stranded: [
    'Warning',
    'No machine holds the Mac and it is in no pool. The message says what the sweep does, and why.',
  ],
  ReclaimAborted: ['Warning', 'The holder of the Mac could not be checked, so nothing was done.'],

  // A MacFleet.
  RollStarted: ['Normal', 'An update is due; the first machine has a turn.'],
  RollFinished: ['Normal', 'Every machine has the desired configuration.'],
  Scaled: ['Normal', 'spec.replicas has changed and was written to the MachineDeployment.'],
  RollStopped: ['Warning', 'The rollout has stopped.'],

  // An ExternalControlPlane.
  KubeconfigMinted: ['Normal', 'The kubeconfig has a new token.'],
  KubeconfigFailed: ['Warning', 'The kubeconfig could not be written.'],
  KubeconfigReleased: [
    'Normal',
    'The kubeconfig is provided by another writer, as configured. The provider does not write it any more.',
  ],

  // A Pod on a Mac, by its agent. Uses the kubelet's reason where there is one.
  Pulling: ['Normal', 'The image is being fetched.'],
  Pulled: ['Normal', 'The image is here.'],
  CreatingVM: ['Normal', 'The virtual machine of the Pod is created.'],
  Started: ['Normal', 'The virtual machine was started.'],
  Killing: ['Normal', 'The virtual machine is shut down, or powered off.'],
  Failed: [
    'Warning',
    'The image could not be pulled, or the virtual machine not created or started. The agent retries.',
  ],
  FailedToRetrieveImagePullSecret: ['Warning', 'A Secret for the registry is missing or invalid.'],
  InvalidEnvironmentVariableNames: ['Warning', 'Keys that are invalid names of variables were ignored.'],
  NotForMacs: ['Warning', 'The Pod is not meant for Macs. It stays Pending, and uses no slot.'],
  UnsupportedPod: ['Warning', 'The Pod is meant for a Mac, and cannot be a virtual machine.'],
  DeadlineExceeded: [
    'Warning',
    'The Pod was active for longer than its activeDeadlineSeconds, so it is ended and fails.',
  ],
  FieldsIgnored: ['Warning', 'The Pod has fields that a virtual machine does not support. The message lists them.'],

  // Others.
  FleetSpread: ['Normal', 'The set of Ready Macs has changed, so the Deployment is restarted.'],
  FinalizerRemoved: ['Warning', 'The Node of the Pod is gone, so no agent would remove its finalizer.'],
  PodReaped: ['Normal', 'The Pod had ended, and would have blocked the release of its Mac.'],

  // A RunnerPool, and its Pods.
  RunnerPodRetiredForNodeDrain: ['Normal', 'The Node is cordoned and the runner had no job.'],
  RunnerPodRetired: [
    'Normal',
    'The runner had no job, and gets none any more: there are too many, its image is old, or GitHub shows it as offline.',
  ],
  RunnerPodFinished: ['Normal', 'The runner has ended. Its Pod is deleted.'],
  RunnerPodFailed: ['Warning', 'The runner has failed. Its Pod is deleted.'],
  RunnerPodStuck: ['Warning', 'The Pod does not start, or does not terminate.'],
  RunnerPodLost: ['Warning', 'The Mac of the Pod is gone, and the virtual machine with it.'],
} as const satisfies Record<string, EventDefinition>;

export type EventReason = keyof typeof events;

/** An event for a recorder. Its type follows from its reason; the default message is the meaning of the reason. */
export const buildEvent = (reason: EventReason, message: string = events[reason][1]): EventInput => ({
  type: events[reason][0],
  reason,
  message,
});

/** An event whose message is the meaning of its reason, followed by a detail. */
export const buildDetailedEvent = (reason: EventReason, detail: string): EventInput =>
  buildEvent(reason, `${events[reason][1]} ${detail}`);
