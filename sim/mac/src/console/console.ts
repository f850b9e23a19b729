import { readFileSync, writeFileSync } from 'node:fs';
import type { Machine, Part } from '../machine.ts';
import { readDefaults } from '../tools/defaults.ts';
import { sealed } from './kcpassword.ts';
import { type AtLoginwindow, decideLogin } from './login.ts';

type Session = 'Aqua' | 'none';

/** loginwindow and the session at the screen of the Mac: what `gui/<uid>` hangs on. */
export interface Console extends Part {
  session(): Session;
  /** A logout, or a crash of WindowServer: loginwindow shows its screen again, and logs nobody in by itself. */
  end(): void;
  readonly loginwindow: Loginwindow;
  /** Told at each change of the session, after it. */
  onSession(listener: (session: Session) => void): void;
}

export interface Loginwindow {
  running(): boolean;
  runs(): number;
  /** `launchctl kickstart [-k]`. `forbidden` is how macOS >= 14.4 guards what it calls critical daemons. */
  kickstart(options: { kill: boolean }): 'done' | 'forbidden';
  /** SIGHUP leaves it dead, anything else that ends it has launchd start it again (INC-08). False: nobody there. */
  signal(signal: NodeJS.Signals): boolean;
}

/** Of a Mac: Aqua is up less than two seconds after loginwindow started again. */
const loginTakes = 1_500;

const ends: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGQUIT', 'SIGABRT']);

const readIfThere = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

export const createConsole = (machine: Machine): Console => {
  const { faults, journal } = machine;
  const listeners: ((session: Session) => void)[] = [];
  let session: Session = 'none';
  let alive = false;
  let runs = 0;
  let takeBackLogin = (): void => {};

  const running = (): boolean => alive && faults.loginwindow !== 'dead';

  const become = (next: Session): void => {
    if (session === next) return;
    session = next;
    journal.record('console.session', next);
    for (const listener of listeners) listener(next);
  };

  const logIn = (started: AtLoginwindow['started']): void => {
    const file = machine.path('/etc/kcpassword');
    const { autoLoginUser } = readDefaults(machine, '/Library/Preferences/com.apple.loginwindow');
    const login = decideLogin({
      started,
      autoLoginUser: typeof autoLoginUser === 'string' ? autoLoginUser : undefined,
      kcpassword: readIfThere(file),
      user: machine.user,
      noGuiSession: faults.noGuiSession,
    });
    if (login === 'seal') {
      writeFileSync(file, sealed);
      journal.record('console.sealed', machine.user.name);
    }
    if (login === 'Aqua') become('Aqua');
  };

  const start = (started: AtLoginwindow['started']): void => {
    alive = true;
    runs += 1;
    takeBackLogin();
    takeBackLogin = machine.clock.after(machine.pace(loginTakes), () => logIn(started));
  };

  /** Whatever ends loginwindow ends the session that it holds. */
  const die = (): void => {
    alive = false;
    takeBackLogin();
    become('none');
  };

  const startAgain = (): void => {
    die();
    if (faults.loginwindow === 'dead') faults.loginwindow = 'normal';
    journal.record('loginwindow.respawn');
    start('again');
  };

  return {
    tools: {},
    session: () => (running() ? session : 'none'),
    end: () => {
      takeBackLogin();
      become('none');
    },
    onSession: (listener) => {
      listeners.push(listener);
    },
    loginwindow: {
      running,
      runs: () => runs,
      kickstart: ({ kill }) => {
        if (kill && faults.loginwindow === 'forbidden') return 'forbidden';
        if (kill || !running()) startAgain();
        return 'done';
      },
      signal: (signal) => {
        if (!running()) return false;
        if (signal === 'SIGHUP') die();
        if (ends.has(signal)) startAgain();
        return true;
      },
    },
    boot: async () => {
      runs = 0;
      start('at boot');
    },
    shutdown: async () => {
      die();
      if (faults.loginwindow === 'dead') faults.loginwindow = 'normal';
    },
  };
};
