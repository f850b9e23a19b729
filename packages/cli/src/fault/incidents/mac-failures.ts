import { machine } from '@tartan/api';
import { nodes } from '@tartan/kube';
import { CannotPlay, type Fault } from '../fault.ts';
import { isReadyNode, pickFreeHost, pickMachineWithFreeSlot, readyMachines } from '../targets.ts';
import {
  createTemporaryMachine,
  createTemporaryPod,
  failingCondition,
  type TemporaryMachine,
} from '../temporary-objects.ts';
import { untilOne } from '../wait.ts';

export const deadLoginwindow: Fault = {
  name: 'dead-loginwindow',
  title:
    'loginwindow died of a SIGHUP and nobody is logged in at the console: each virtual machine failed on four Macs, silently (tuist/tuist#10875).',
  watch: ['kubectl get pods -o wide -w', 'kubectl get events -w'],
  play: async (context) => {
    const { report } = context;
    const { name, mac } = await pickMachineWithFreeSlot(context);
    try {
      mac.faults.loginwindow = 'dead';
      mac.endGuiSession();
      report(`On the Mac of ${name}, loginwindow is dead and the console is empty. Now a Pod comes.`);
      const pod = await createTemporaryPod(context, name);
      try {
        await pod.untilRunning();
        if (mac.guiSession() !== 'Aqua') throw new Error('the Pod runs, but nobody is logged in at the console');
        report(`Its agent had launchd start loginwindow again, and the Pod ${pod.name} runs.`);
      } finally {
        await pod.remove();
      }
    } finally {
      mac.faults.loginwindow = 'normal';
    }
    return 'The agent brought the console back before it started the virtual machine. Nobody has to do anything.';
  },
};

/** With it, no step before the console asks for the password. */
const allowSudoWithoutPassword = `umask 337 && printf 'm1 ALL=(ALL) NOPASSWD: ALL\\n' >"$TARTAN_ROOT/etc/sudoers.d/m1-nopasswd"`;

export const sealedPassword: Fault = {
  name: 'sealed-password',
  title:
    'The password of a Mac is not what Scaleway says: macOS sealed /etc/kcpassword, nobody was logged in, and no Pod ever ran (tuist/tuist#10875).',
  watch: ['kubectl get samm -w', 'kubectl get machosts -w', 'tartan explain NAME'],
  play: async (context) => {
    const { report } = context;
    const host = await pickFreeHost(context);
    const { mac, server } = host;
    const { password } = mac.user;
    const { installs } = server;
    let extra: TemporaryMachine | undefined;
    try {
      await mac.run(allowSudoWithoutPassword, { asRoot: true });
      mac.setPassword('changed-by-hand');
      report(`Somebody has changed the password of the Mac ${server.id}.`);
      extra = await createTemporaryMachine(context, host);
      const failed = await extra.until(
        'fails',
        (each) => failingCondition(each, 'Bootstrapped')?.includes('sealed') === true,
      );
      report(`It is not taken for ready: ${failingCondition(failed, 'Bootstrapped') ?? ''}`);
      if (failed.status?.ready === true) throw new Error(`${extra.name} is Ready without a session at the console`);
    } finally {
      await extra?.remove();
      // A wipe has set another one.
      if (server.installs === installs) mac.setPassword(password);
    }
    return 'The Mac was never taken for ready, and says why; the password is not tried twice. It would have been restarted after 3 attempts, and given back after 8, for a day of quarantine. A person deletes the Machine, as here, since a wipe sets a new password, or sets it right with tartan prepare-host.';
  },
};

export const macPoweredOff: Fault = {
  name: 'mac-powered-off',
  title: 'A Mac loses its power: Node and machine must say so, nobody may wipe it, and it must come back by itself.',
  watch: ['kubectl get nodes -w', 'tartan fleet -w'],
  play: async (context) => {
    const { report } = context;
    const member = (await readyMachines(context)).at(-1);
    if (member === undefined) throw new CannotPlay('No machine is Ready: wait until one is (kubectl get samm -w).');
    const { name, mac, server, machine: before } = member;
    const { installs } = server;
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === name;
    try {
      await mac.powerOff();
      report(`The Mac of ${name} is off. Kubernetes waits 50 s for its Lease before it gives it up.`);
      await untilOne(context, nodes, `the Node of ${name} is not Ready`, (node) => isIt(node) && !isReadyNode(node));
      const down = await untilOne(
        context,
        machine.resource,
        `${name} is not Ready`,
        (each) => isIt(each) && each.status?.ready !== true,
      );
      report(
        `${name} is not Ready: ${failingCondition(down, 'Ready') ?? failingCondition(down, 'NodeReady') ?? 'its Node is not'}`,
      );
    } finally {
      await mac.powerOn();
      report(`The Mac of ${name} has power again.`);
    }
    await untilOne(context, nodes, `the Node of ${name} is Ready`, (node) => isIt(node) && isReadyNode(node));
    const after = await untilOne(
      context,
      machine.resource,
      `${name} is Ready`,
      (each) => isIt(each) && each.status?.ready === true,
    );
    if (
      after.metadata.uid !== before.metadata.uid ||
      after.status?.serverID !== server.id ||
      server.installs !== installs
    )
      throw new Error(`${name} came back on another Mac, or on one that was wiped`);
    return `${name} is Ready again, with the same Mac and everything on it. A person had to bring the power back, and nothing else.`;
  },
};
