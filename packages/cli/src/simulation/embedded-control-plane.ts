import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { connect } from './connect.ts';
import type { ControlPlane } from './control-plane.ts';

export interface EmbeddedOptions {
  /** For the kubeconfig. */
  readonly folder: string;
  /** 0 takes any that is free. */
  readonly port?: number;
  /** Keeps every object there; without it they are in memory. */
  readonly data?: string;
}

/** The embedded Kubernetes over HTTPS. Nobody has more rights than on a real one. */
export const startEmbedded = async ({ folder, port = 0, data }: EmbeddedOptions): Promise<ControlPlane> => {
  const kubernetes = await createKubernetes(data === undefined ? {} : { data });
  const { handle, identity } = kubernetes;
  const listen = (wanted: number) => serve({ handle, identity, port: wanted });
  let server = await listen(port).catch((error: unknown) => {
    kubernetes.stop();
    throw error;
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, await adminKubeconfig(identity, server.url), { mode: 0o600 });
  const { url, ca, client, transport } = await connect(kubeconfig);
  return {
    url,
    kubeconfig,
    ca,
    client,
    transport,
    needsCore: true,
    pause: async () => {
      await server.close();
      return async () => {
        server = await listen(server.port);
      };
    },
    stop: async () => {
      transport.close();
      await server.close();
      kubernetes.stop();
    },
  };
};
