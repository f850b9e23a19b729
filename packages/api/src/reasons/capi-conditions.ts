import type { ConditionStatus } from '@tartan/kube';

/** A reason belongs to one status, so the two cannot contradict each other. */
type ReasonDefinition = readonly [status: ConditionStatus, means: string];

export interface ConditionDefinition {
  /** Its meaning when it is True. */
  readonly means: string;
  readonly reasons: Readonly<Record<string, ReasonDefinition>>;
}

/** Every kind that core can pause has it, in Cluster API's terms. */
const pausedCondition = {
  means: 'The Cluster or the object is paused: nothing is done, and a deletion waits. Certificates are still renewed.',
  reasons: {
    Paused: [
      'True',
      '`spec.paused` of the Cluster is set, or the object has the annotation `cluster.x-k8s.io/paused`.',
    ],
    NotPaused: ['False', 'Neither is.'],
  },
} as const satisfies ConditionDefinition;

/** For the kinds that `clusterctl move` would move. */
const moveBlockedCondition = {
  means: '`clusterctl move` is not supported: the object has the annotation `clusterctl.cluster.x-k8s.io/block-move`.',
  reasons: {
    MacsAreNodesHere: [
      'True',
      'The Macs are Nodes of the cluster that they are managed from, so another cluster cannot manage them.',
    ],
  },
} as const satisfies ConditionDefinition;

/** The conditions of a ScalewayAppleSiliconMachine. Each text is for the operator of the fleet: what it is, and what helps. */
export const machineConditions = {
  Ready: {
    means: 'The Node of the machine is Ready, on a Mac that runs. Cluster API shows it as InfrastructureReady.',
    reasons: {
      Ready: ['True', 'The Node is Ready.'],
      NotProvisioned: ['False', 'It has no Mac: see Provisioned.'],
      NotBootstrapped: ['False', 'Its Mac is not ready to be a Node: see Bootstrapped.'],
      NodeNotReady: ['False', 'The Node is not Ready: see NodeReady.'],
      HostNotRunning: ['False', 'Scaleway says that the Mac is not in state ready.'],
      Deleting: ['False', 'The machine is being deleted.'],
    },
  },
  Allowed: {
    means:
      'A Mac may be claimed for the machine. A machine that already has one keeps it, with its Node and its certificates.',
    reasons: {
      Allowed: ['True', 'It is part of a Cluster, in a namespace of --machine-namespaces.'],
      NamespaceNotAllowed: ['False', 'The manager claims no Macs for its namespace: add it to --machine-namespaces.'],
      NotInCluster: [
        'False',
        'It is part of no Cluster. Create a Machine of Cluster API that refers to it, or a MachineDeployment.',
      ],
    },
  },
  Provisioned: {
    means: 'The machine holds a Mac and knows how to log in.',
    reasons: {
      HostClaimed: ['True', 'The Mac has the name of the machine.'],
      WaitingForCluster: ['False', 'Cluster API has not prepared the cluster, or the machine, yet.'],
      Adopting: ['False', 'A Mac is reserved and is being claimed.'],
      NotAllowed: ['False', 'The machine gets no Mac: see Allowed.'],
      NodeNameTaken: [
        'False',
        'A Node that is not this machine has its name, so the machine gets no identity. Delete the Machine, or the Node if it is not needed.',
      ],
      NoAdoptPoolPrefix: [
        'False',
        'The pool is not configured: set spec.adoptPoolPrefix, or --default-adopt-pool-prefix of the manager.',
      ],
      PoolPrefixNotAllowed: [
        'False',
        'The manager does not allow the pool that spec.adoptPoolPrefix names. Add the prefix to --adopt-pool-prefixes, or correct the template.',
      ],
      InvalidOSPin: [
        'False',
        'spec.os holds a version. Specs are cloned once: correct the template, then delete the Machine.',
      ],
      NoAvailableHost: ['False', 'No Mac of that type, zone and macOS is free. The message lists the Macs that exist.'],
      CredentialsPersistFailed: ['False', 'The Secret with the login could not be written.'],
      HostReleased: ['False', 'The Mac could not be prepared and was released. The machine claims another one.'],
      HostGone: ['False', 'Scaleway does not know the Mac any more. Delete the Machine to get another one.'],
    },
  },
  Bootstrapped: {
    means: 'The Mac is prepared and its agent has joined.',
    reasons: {
      Bootstrapped: ['True', 'Every step of the host is done.'],
      Bootstrapping: ['False', 'The steps are being run.'],
      Rebooting: ['False', 'The Mac is being restarted after failures.'],
      SSHKeyUnavailable: ['False', 'The SSH key of the fleet could not be created or registered.'],
      CredentialsRefreshFailed: ['False', 'The password could not be read from Scaleway.'],
      MissingSudoPassword: [
        'False',
        'Neither the Secret nor Scaleway has a password. Add it to the Secret of the machine.',
      ],
      NodeIdentityUnavailable: ['False', 'The join credentials could not be created.'],
      TailscaleAuthKeyUnavailable: ['False', 'The Secret with the Tailscale key is missing or empty.'],
      GHRunnerRegistrationTokenUnavailable: [
        'False',
        'GitHub gave no registration token. Check the Secret of the GitHub App.',
      ],
      HostUnreachable: ['False', 'The Mac does not answer on SSH.'],
      HostKeyMismatch: [
        'False',
        'The Mac has another host key than before, without a reinstall. Nothing was sent to it.',
      ],
      HostNotWiped: ['False', 'The Mac still has the disk of its previous machine. It is released and wiped.'],
      HostLocked: ['False', 'Another process prepares the Mac. The message names its owner and start.'],
      BootstrapFailed: ['False', 'A step failed. The message says which, and what to do.'],
      NodeMissing: ['False', 'The Node was deleted. The manager restarts the agent, which registers it again.'],
    },
  },
  NodeReady: {
    means: 'The Node is Ready.',
    reasons: {
      NodeReady: ['True', 'The kubelet reports it.'],
      NodeNotReady: ['False', 'The kubelet reports it.'],
      NodeMissing: ['False', 'There is no Node.'],
      NodeUnknown: ['Unknown', 'The kubelet has not reported for a while.'],
      NotBootstrapped: ['Unknown', 'The Mac has not joined yet.'],
    },
  },
  HostUpToDate: {
    means: 'The Mac has what it shall have.',
    reasons: {
      UpToDate: ['True', 'The agent reports the desired configuration.'],
      WaitingForTurn: ['False', 'It waits for a turn of its MacFleet.'],
      Rolling: ['False', 'It has a turn and is being updated.'],
      WaitingForIdle: ['False', 'It is cordoned and waits until its virtual machines are gone.'],
      RebootPending: ['False', 'A step takes effect after the next restart.'],
      RollUnreachable: ['False', 'The Mac does not answer. The manager retries; the rollout of the fleet continues.'],
      RollRejected: [
        'False',
        'The Mac refused. It runs on with what it had. Tried again after a while, or when something else is wanted.',
      ],
      NotReported: ['Unknown', 'The agent has not reported the configuration of the Mac.'],
    },
  },
  Deleting: {
    means: 'The machine is being deleted.',
    reasons: {
      Releasing: ['True', 'Its Mac is being released.'],
      ReleaseSkipped: [
        'True',
        'The pool for the release is not configured, so its Mac is not released. The sweep reports it.',
      ],
      CleaningUp: ['True', 'Its Secret, identity and Node are being deleted.'],
      NotDeleting: ['False', 'It is not.'],
    },
  },
  Paused: pausedCondition,
  MoveBlocked: moveBlockedCondition,
} as const satisfies Record<string, ConditionDefinition>;

export const clusterConditions = {
  Ready: {
    means: 'Machines can be created.',
    reasons: { Provisioned: ['True', 'There is nothing to provision.'] },
  },
  Paused: pausedCondition,
  MoveBlocked: moveBlockedCondition,
} as const satisfies Record<string, ConditionDefinition>;

export const controlPlaneConditions = {
  Ready: {
    means: 'The same as Available, for tools that read Ready, such as `helm --wait`.',
    reasons: {
      Available: ['True', 'See Available.'],
      KubeconfigMissing: ['False', 'There is no kubeconfig: see KubeconfigReady.'],
    },
  },
  Available: {
    means: 'The API server answers and Cluster API core can connect to it.',
    reasons: {
      Available: ['True', 'The kubeconfig is valid.'],
      KubeconfigMissing: ['False', 'There is no kubeconfig: see KubeconfigReady.'],
    },
  },
  KubeconfigReady: {
    means: 'The kubeconfig has a valid token.',
    reasons: {
      Minted: ['True', 'It is replaced before it expires.'],
      Provided: ['True', 'Another writer provides it, as spec.kubeconfig requires.'],
      ServiceAccountMissing: [
        'False',
        'The ServiceAccount of spec.serviceAccountName does not exist. The chart creates it.',
      ],
      MintFailed: ['False', 'The API server gave no token. The message says why.'],
      NotOurs: [
        'False',
        'A Secret of that name exists and is not changed: another controller owns it, or core does not find it without the label cluster.x-k8s.io/cluster-name.',
      ],
    },
  },
  Paused: pausedCondition,
  MoveBlocked: moveBlockedCondition,
} as const satisfies Record<string, ConditionDefinition>;
