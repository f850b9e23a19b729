import { readFileSync, writeFileSync } from 'node:fs';
import type { Machine, Subsystem } from '../machine.ts';
import { readDefaults } from '../tools/defaults.ts';
import { decodeKcpassword, sealedPassword } from './kcpassword.ts';

/** The state that loginwindow reads when it starts. */
export interface LoginwindowState {
  /** On a headless mini the loginwindow that starts at boot ignores auto-login; a restarted one honours it (INC-202). */
  readonly started: 'at boot' | 'again';
  /** From the loginwindow preferences. */
  readonly autoLoginUser: string | undefined;
  /** The raw file. */
  readonly kcpassword: Buffer | undefined;
  readonly user: { readonly name: string; readonly password: string };
  readonly noGuiSession: boolean;
}

export type LoginOutcome =
  | 'Aqua'
  /** No login, and nothing is changed. */
  | 'login screen'
  /** The password is wrong: loginwindow overwrites the file with `<sealed>` (INC-07). */
  | 'seal';

/** What a loginwindow does when it starts. */
export const decideLogin = ({
  started,
  autoLoginUser,
  kcpassword,
  user,
  noGuiSession,
}: LoginwindowState): LoginOutcome => {
  if (started === 'at boot' || noGuiSession) return 'login screen';
  if (autoLoginUser !== user.name || kcpassword === undefined) return 'login screen';
  if (kcpassword.equals(sealedPassword)) return 'login screen';
  return decodeKcpassword(kcpassword).equals(Buffer.from(user.password)) ? 'Aqua' : 'seal';
};

type Session = 'Aqua' | 'none';

/** loginwindow and the console session, on which `gui/<uid>` depends. */
export interface Console extends Subsystem {
  session(): Session;
  /** A logout, or a crash of WindowServer: loginwindow shows the login screen and does not log in by itself. */
  end(): void;
  readonly loginwindow: Loginwindow;
  /** Called after each change of the session. */
  onSession(listener: (session: Session) => void): void;
}

export interface Loginwindow {
  running(): boolean;
  runs(): number;
  /** `launchctl kickstart [-k]`. macOS >= 14.4 answers `forbidden` for what it calls critical daemons. */
  kickstart(options: { kill: boolean }): 'done' | 'forbidden';
  /** After SIGHUP it stays dead; after any other fatal signal launchd restarts it (INC-08). False: not running. */
  signal(signal: NodeJS.Signals): boolean;
}

/** Measured on a Mac: Aqua is up less than two seconds after a restart of loginwindow. */
const loginMs = 1_500;

const fatalSignals: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGQUIT', 'SIGABRT']);

const readIfExists = (file: string): Buffer | undefined => {
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
  let cancelLogin = (): void => {};

  const running = (): boolean => alive && faults.loginwindow !== 'dead';

  const setSession = (next: Session): void => {
    if (session === next) return;
    session = next;
    journal.record('console.session', next);
    for (const listener of listeners) listener(next);
  };

  const logIn = (started: LoginwindowState['started']): void => {
    const file = machine.path('/etc/kcpassword');
    const { autoLoginUser } = readDefaults(machine, '/Library/Preferences/com.apple.loginwindow');
    const login = decideLogin({
      started,
      autoLoginUser: typeof autoLoginUser === 'string' ? autoLoginUser : undefined,
      kcpassword: readIfExists(file),
      user: machine.user,
      noGuiSession: faults.noGuiSession,
    });
    if (login === 'seal') {
      writeFileSync(file, sealedPassword);
      journal.record('console.sealed', machine.user.name);
    }
    if (login === 'Aqua') setSession('Aqua');
  };

  const start = (started: LoginwindowState['started']): void => {
    alive = true;
    runs += 1;
    cancelLogin();
    cancelLogin = machine.clock.after(machine.pace(loginMs), () => logIn(started));
  };

  /** The session ends with loginwindow. */
  const terminate = (): void => {
    alive = false;
    cancelLogin();
    setSession('none');
  };

  const respawn = (): void => {
    terminate();
    if (faults.loginwindow === 'dead') faults.loginwindow = 'normal';
    journal.record('loginwindow.respawn');
    start('again');
  };

  return {
    tools: {},
    session: () => (running() ? session : 'none'),
    end: () => {
      cancelLogin();
      setSession('none');
    },
    onSession: (listener) => {
      listeners.push(listener);
    },
    loginwindow: {
      running,
      runs: () => runs,
      kickstart: ({ kill }) => {
        if (kill && faults.loginwindow === 'forbidden') return 'forbidden';
        if (kill || !running()) respawn();
        return 'done';
      },
      signal: (signal) => {
        if (!running()) return false;
        if (signal === 'SIGHUP') terminate();
        if (fatalSignals.has(signal)) respawn();
        return true;
      },
    },
    boot: async () => {
      runs = 0;
      start('at boot');
    },
    shutdown: async () => {
      terminate();
      if (faults.loginwindow === 'dead') faults.loginwindow = 'normal';
    },
  };
};
