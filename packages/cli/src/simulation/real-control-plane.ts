import { connect } from './connect.ts';
import type { ControlPlane } from './control-plane.ts';

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built when they are not there. For checkouts: it takes Go. */
export const startReal = async (): Promise<ControlPlane> => {
  const { startControlPlane } = await import('@tartan/tools-kubernetes').catch((cause: unknown) => {
    throw new Error(
      'a real Kubernetes is built from source, which only a checkout of Tartan can do. Use one, or leave --kubernetes out.',
      { cause },
    );
  });
  const plane = await startControlPlane({ controllerManager: true, scheduler: true });
  const { url, ca, client, transport } = await connect(plane.adminKubeconfigPath);
  return {
    url,
    kubeconfig: plane.adminKubeconfigPath,
    ca,
    client,
    transport,
    needsCore: true,
    pause: undefined,
    stop: async () => {
      transport.close();
      await plane.stop();
    },
  };
};
