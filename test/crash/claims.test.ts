import { runClaimSuite } from '../../packages/provider/src/claim/suite/run.ts';
import { namespace, startEmbedded } from '../../packages/provider/src/claim/testing/embedded.ts';

// More schedules than beside the code, and others.
runClaimSuite(
  'claims on the embedded Kubernetes, under many schedules',
  async () => {
    const { transport, close } = await startEmbedded();
    return { transport, namespace, close };
  },
  { schedules: 500, firstSeed: 20_001 },
);
