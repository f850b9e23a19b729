import type { Console } from '../console/console.ts';
import type { Machine, Subsystem } from '../machine.ts';
import { killLeftoverProcesses } from '../processes.ts';
import { createAmfi } from './amfi.ts';
import { createCodesign } from './codesign.ts';
import { createBackgroundTasks, createDisabledServices, createDomains } from './domains.ts';
import type { JobView } from './job.ts';
import { createKillall } from './killall.ts';
import { createLaunchctl } from './launchctl.ts';
import { createOpenLog } from './spawn-job.ts';
import type { Domain } from './target.ts';

/** launchd: really runs the jobs of property lists. Provides `launchctl`, `killall` and `codesign`. */
export interface Launchd extends Subsystem {
  /** A job by its label, in the system domain or else in the GUI domain. */
  job(label: string): JobView | undefined;
}

export interface LaunchdOptions {
  /**
   * After how many registrations of a label its KeepAlive is ignored. macOS does not document the limit: 20 is more than one host needs in
   * a normal test, and few enough to reach in one.
   */
  readonly registrationCap?: number;
}

const system: Domain = { kind: 'system' };

export const createLaunchd = (machine: Machine, console: Console, options: LaunchdOptions = {}): Launchd => {
  const gui: Domain = { kind: 'gui', uid: machine.user.uid };
  const amfi = createAmfi();
  const disabled = createDisabledServices(machine);
  const domains = createDomains({
    launcher: { machine, amfi, openLog: createOpenLog(machine) },
    console,
    backgroundTasks: createBackgroundTasks(machine, options.registrationCap ?? 20),
    disabled,
  });
  /** The jobs of the last session end before those of the next one start. */
  let lastSession = Promise.resolve();

  console.onSession((session) => {
    if (session === 'none') {
      const down = domains.tearDown(gui);
      lastSession = lastSession.then(() => down);
      return;
    }
    void lastSession.then(() =>
      domains.loadFolders(gui, [
        machine.path('/Library/LaunchAgents'),
        machine.path(`/Users/${machine.user.name}/Library/LaunchAgents`),
      ]),
    );
  });

  return {
    tools: {
      launchctl: createLaunchctl({ machine, console, domains, disabled }),
      killall: createKillall(machine, console, domains),
      codesign: createCodesign(machine),
    },
    job: (label) => (domains.find(system, label) ?? domains.find(gui, label))?.view(),
    boot: async () => {
      amfi.clear();
      domains.loadFolders(system, [machine.path('/Library/LaunchDaemons')]);
    },
    shutdown: async () => {
      await domains.killAll();
      await lastSession;
      await killLeftoverProcesses(machine.root);
    },
  };
};
