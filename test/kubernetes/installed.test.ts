import { after, before, describe } from 'node:test';
import { canRunContainers } from '@tartan/sim-linux-node';
import { account } from './installed/account.ts';
import { arrive } from './installed/arrive.ts';
import { giveBack, uninstall } from './installed/depart.ts';
import { kubeconfig } from './installed/kubeconfig.ts';
import { leave } from './installed/leave.ts';
import { roll } from './installed/roll.ts';
import { openStage, type Stage } from './installed/stage.ts';

const skip = canRunContainers() ? false : 'the stand-in for Linux Nodes needs a Linux that lets it mount';

describe('Tartan, installed by helm on Kubernetes with Cluster API', { timeout: 1_200_000, skip }, () => {
  let stage: Stage;
  const on = (): Stage => stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage?.stop());

  arrive(on);
  roll(on);
  kubeconfig(on);
  leave(on);
  giveBack(on);
  account(on);
  uninstall(on);
});
