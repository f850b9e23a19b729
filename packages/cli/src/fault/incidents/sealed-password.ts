import { aFreeHost } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { askForMachine, complaint, type ExtraMachine } from '../extra-machine.ts';

/** With it, no step before the console asks for the password. */
const noPassword = `umask 337 && printf 'm1 ALL=(ALL) NOPASSWD: ALL\\n' >"$TARTAN_ROOT/etc/sudoers.d/m1-nopasswd"`;

export const sealedPassword: Fault = {
  name: 'sealed-password',
  title:
    'The password of a Mac is not what Scaleway says: macOS sealed /etc/kcpassword, nobody was logged in, and no Pod ever ran (seed 003).',
  watch: ['kubectl get samm -w', 'kubectl get machosts -w', 'tartan explain NAME'],
  play: async (scene) => {
    const { say } = scene;
    const host = await aFreeHost(scene);
    const { mac, server } = host;
    const { password } = mac.user;
    const { installs } = server;
    let extra: ExtraMachine | undefined;
    try {
      await mac.run(noPassword, { asRoot: true });
      mac.setPassword('changed-by-hand');
      say(`Somebody has changed the password of the Mac ${server.id}.`);
      extra = await askForMachine(scene, host);
      const failed = await extra.until('fails', (each) => complaint(each, 'Bootstrapped')?.includes('sealed') === true);
      say(`It is not taken for ready: ${complaint(failed, 'Bootstrapped') ?? ''}`);
      if (failed.status?.ready === true) throw new Error(`${extra.name} is Ready without a session at the console`);
    } finally {
      await extra?.remove();
      // A wipe has set another one.
      if (server.installs === installs) mac.setPassword(password);
    }
    return 'The Mac was never taken for ready, and says why; the password is not tried twice. It would have been restarted after 3 attempts, and given back after 8, for a day of quarantine. A person deletes the Machine, as here, since a wipe sets a new password, or sets it right with tartan prepare-host.';
  },
};
