import { runClaimSuite } from './suite/run.ts';
import { namespace, startEmbedded } from './testing/embedded.ts';

runClaimSuite(
  'claims on the embedded Kubernetes',
  async () => {
    const { transport, close } = await startEmbedded();
    return { transport, namespace, close };
  },
  { schedules: 60 },
);
