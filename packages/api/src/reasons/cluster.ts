import { type ConditionWords, moveBlocked, paused } from './words.ts';

export const clusterConditions = {
  Ready: {
    means: 'Machines can be made.',
    reasons: { Provisioned: ['True', 'There is nothing to make.'] },
  },
  Paused: paused,
  MoveBlocked: moveBlocked,
} as const satisfies Record<string, ConditionWords>;

export const controlPlaneConditions = {
  Ready: {
    means: 'The same as Available, for those who look at Ready, such as `helm --wait`.',
    reasons: {
      Available: ['True', 'See Available.'],
      KubeconfigMissing: ['False', 'There is no kubeconfig: see KubeconfigReady.'],
    },
  },
  Available: {
    means: 'The API server answers and Cluster API core can connect to it.',
    reasons: {
      Available: ['True', 'It does, and the kubeconfig is fresh.'],
      KubeconfigMissing: ['False', 'There is no kubeconfig: see KubeconfigReady.'],
      Deleting: ['False', 'The object is being deleted.'],
    },
  },
  KubeconfigReady: {
    means: 'The kubeconfig holds a token that is good for a while.',
    reasons: {
      Minted: ['True', 'It is replaced before it expires.'],
      Provided: ['True', 'Somebody else wrote it, as spec.kubeconfig wants it, and keeps it fresh.'],
      ServiceAccountMissing: [
        'False',
        'The ServiceAccount of spec.serviceAccountName does not exist. The chart makes it.',
      ],
      MintFailed: ['False', 'The API server gave no token. The message says why.'],
      NotOurs: [
        'False',
        'There is a Secret of that name which is left alone: another controller owns it, or core does not find what somebody else wrote there, for want of the label cluster.x-k8s.io/cluster-name.',
      ],
    },
  },
  Paused: paused,
  MoveBlocked: moveBlocked,
} as const satisfies Record<string, ConditionWords>;
