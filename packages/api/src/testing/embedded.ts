import { createClient, customResourceDefinitions, inProcessTransport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { definitions } from '../crds/index.ts';
import type { ClusterWithKinds } from '../crds/suite/run.ts';

/** An embedded Kubernetes that has our kinds. */
export const startEmbedded = async (): Promise<ClusterWithKinds> => {
  const kubernetes = await createKubernetes();
  const user = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  const client = createClient(transport, { clock: systemClock });
  for (const definition of definitions) await client.create(customResourceDefinitions, definition);
  return { transport, close: async () => kubernetes.stop() };
};
