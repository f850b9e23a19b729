import { machine } from '@tartan/api';
import { nodes } from '@tartan/kube';
import type { Fault } from '../fault.ts';
import { isReadyNode, pickFreeHost, pickMachineWithFreeSlot, pickReadyMachine } from '../targets.ts';
import {
  createTemporaryMachine,
  createTemporaryPod,
  failingCondition,
  type TemporaryMachine,
} from '../temporary-objects.ts';
import { untilNamed } from '../wait.ts';

export const deadLoginwindow: Fault = {
  name: 'dead-loginwindow',
  title:
    'loginwindow died of a SIGHUP, and no user is logged in at the console: on four Macs every virtual machine failed silently (tuist/tuist#10875).',
  watch: ['kubectl get pods -o wide -w', 'kubectl get events -w'],
  run: async (context) => {
    const { report } = context;
    const { name, mac } = await pickMachineWithFreeSlot(context);
    try {
      mac.faults.loginwindow = 'dead';
      mac.endGuiSession();
      report(`On the Mac of ${name}, loginwindow is dead and the console is empty. Now a Pod is created.`);
      const pod = await createTemporaryPod(context, name);
      try {
        await pod.untilRunning();
        if (mac.guiSession() !== 'Aqua') throw new Error('the Pod runs, but no user is logged in at the console');
        report(`The agent had launchd restart loginwindow, and the Pod ${pod.name} runs.`);
      } finally {
        await pod.remove();
      }
    } finally {
      mac.faults.loginwindow = 'normal';
    }
    return 'The agent restored the console before it started the virtual machine. Nothing to do.';
  },
};

/** With it, no step before the console login asks for the password. */
const allowSudoWithoutPassword = `umask 337 && printf 'm1 ALL=(ALL) NOPASSWD: ALL\\n' >"$TARTAN_ROOT/etc/sudoers.d/m1-nopasswd"`;

export const sealedPassword: Fault = {
  name: 'sealed-password',
  title:
    'The password of a Mac differs from the one at Scaleway: macOS sealed /etc/kcpassword, no user was logged in, and no Pod ran (tuist/tuist#10875).',
  watch: ['kubectl get samm -w', 'kubectl get machosts -w', 'tartan explain NAME'],
  run: async (context) => {
    const { report } = context;
    const host = await pickFreeHost(context);
    const { mac, server } = host;
    const { password } = mac.user;
    const { installs } = server;
    let extra: TemporaryMachine | undefined;
    try {
      await mac.run(allowSudoWithoutPassword, { asRoot: true });
      mac.setPassword('changed-by-hand');
      report(`A person has changed the password of the Mac ${server.id}.`);
      extra = await createTemporaryMachine(context, host);
      const failed = await extra.until(
        'fails',
        (each) => failingCondition(each, 'Bootstrapped')?.includes('sealed') === true,
      );
      report(`The Mac is not Ready: ${failingCondition(failed, 'Bootstrapped') ?? ''}`);
      if (failed.status?.ready === true) throw new Error(`${extra.name} is Ready without a session at the console`);
    } finally {
      await extra?.remove();
      // A wipe has set another password.
      if (server.installs === installs) mac.setPassword(password);
    }
    return 'The Mac never became Ready, and its condition says why. The manager tries a password once, restarts the Mac after 3 attempts, and releases it into a day of quarantine after 8. An operator deletes the Machine, as here, since a wipe sets a new password, or corrects it with tartan prepare-host.';
  },
};

export const macPoweredOff: Fault = {
  name: 'mac-powered-off',
  title:
    'A Mac loses power: its Node and its machine must report it, the Mac must not be wiped, and must recover by itself.',
  watch: ['kubectl get nodes -w', 'tartan fleet -w'],
  run: async (context) => {
    const { report } = context;
    const { name, mac, server, machine: before } = await pickReadyMachine(context, -1);
    const { installs } = server;
    try {
      await mac.powerOff();
      report(`The Mac of ${name} is off. Kubernetes marks its Node as not Ready after 50 s without a Lease.`);
      await untilNamed(context, nodes, name, 'is not Ready', (node) => !isReadyNode(node));
      const down = await untilNamed(
        context,
        machine.resource,
        name,
        'is not Ready',
        ({ status }) => status?.ready !== true,
      );
      report(
        `${name} is not Ready: ${failingCondition(down, 'Ready') ?? failingCondition(down, 'NodeReady') ?? 'its Node is not Ready'}`,
      );
    } finally {
      await mac.powerOn();
      report(`The Mac of ${name} has power again.`);
    }
    await untilNamed(context, nodes, name, 'is Ready', isReadyNode);
    const after = await untilNamed(context, machine.resource, name, 'is Ready', ({ status }) => status?.ready === true);
    if (
      after.metadata.uid !== before.metadata.uid ||
      after.status?.serverID !== server.id ||
      server.installs !== installs
    )
      throw new Error(`${name} came back on another Mac, or on a wiped one`);
    return `${name} is Ready again, on the same Mac with the same disk. An operator only restores the power.`;
  },
};
