import { type ExternalControlPlane, metricNames } from '@tartan/api';
import { isTrue, type Live, type StateGauge } from '@tartan/kube';

interface ControlPlanes {
  readonly controlPlanes: readonly Live<ExternalControlPlane>[];
}

/** How Cluster API core gets at the cluster: without its kubeconfig no Machine is bound, drained or deleted (I-07). */
export const measureControlPlanes = (gauge: StateGauge<ControlPlanes>): void => {
  gauge(
    metricNames.controlPlaneCondition,
    '1 while the condition of the ExternalControlPlane is True, else 0: condition is Available or KubeconfigReady.',
    ['namespace', 'control_plane', 'condition'],
    (conditions) =>
      ({ controlPlanes }) => {
        for (const { metadata, status } of controlPlanes)
          for (const condition of ['Available', 'KubeconfigReady'] as const)
            conditions.set({ ...placeOf(metadata), condition }, isTrue(status?.conditions, condition) ? 1 : 0);
      },
  );
  gauge(
    metricNames.kubeconfigExpiry,
    'When the token in the kubeconfig of Cluster API core expires. No series for a kubeconfig that somebody else wrote.',
    ['namespace', 'control_plane'],
    (expiry) =>
      ({ controlPlanes }) => {
        for (const { metadata, status } of controlPlanes)
          if (status?.kubeconfigExpires !== undefined)
            expiry.set(placeOf(metadata), Date.parse(status.kubeconfigExpires) / 1000);
      },
  );
};

const placeOf = ({ namespace = '', name }: Live<ExternalControlPlane>['metadata']) => ({
  namespace,
  control_plane: name,
});
