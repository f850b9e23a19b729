import { after, before, describe } from 'node:test';
import { canRunContainers } from '@tartan/sim-linux-node';
import { testAuditLog } from './installed/audit.ts';
import { type Harness, startHarness } from './installed/harness.ts';
import { testInstall } from './installed/install.ts';
import { testKubeconfig } from './installed/kubeconfig.ts';
import { testMachineDeletion } from './installed/machine-deletion.ts';
import { testScaleToZero, testUninstall } from './installed/uninstall.ts';
import { testUpgrade } from './installed/upgrade.ts';

const skip = canRunContainers() ? false : 'the stand-in for Linux Nodes needs a Linux that lets it mount';

describe('Tartan, installed by helm on Kubernetes with Cluster API', { skip }, () => {
  let harness: Harness;
  const on = (): Harness => harness;
  before(async () => {
    harness = await startHarness();
  });
  after(() => harness?.stop());

  testInstall(on);
  testUpgrade(on);
  testKubeconfig(on);
  testMachineDeletion(on);
  testScaleToZero(on);
  testAuditLog(on);
  testUninstall(on);
});
