import { constants } from 'node:os';

/** How a job's process ended last. */
export type LastExit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  /** AMFI killed it. */
  | { readonly kind: 'codesigning' };

/** launchd's own exit status for a job that it cannot start: log not writable, program missing. */
export const exConfig: LastExit = { kind: 'code', code: 78 };

// sysexits(3); launchctl prints the name next to the number.
const exitCodeNames: Readonly<Record<number, string>> = {
  64: 'EX_USAGE',
  65: 'EX_DATAERR',
  66: 'EX_NOINPUT',
  69: 'EX_UNAVAILABLE',
  70: 'EX_SOFTWARE',
  71: 'EX_OSERR',
  73: 'EX_CANTCREAT',
  75: 'EX_TEMPFAIL',
  77: 'EX_NOPERM',
  78: 'EX_CONFIG',
};

const signalNames: Readonly<Record<string, string>> = {
  SIGHUP: 'Hangup',
  SIGINT: 'Interrupt',
  SIGABRT: 'Abort trap',
  SIGKILL: 'Killed',
  SIGSEGV: 'Segmentation fault',
  SIGTERM: 'Terminated',
};

const numberOf = (signal: NodeJS.Signals): number => constants.signals[signal];

/** As `launchctl print` words it, without the name of the line. */
export const exitText = (exit: LastExit): string => {
  switch (exit.kind) {
    case 'code':
      return exitCodeNames[exit.code] === undefined ? String(exit.code) : `${exit.code}: ${exitCodeNames[exit.code]}`;
    case 'signal':
      return `${signalNames[exit.signal] ?? exit.signal}: ${numberOf(exit.signal)}`;
    case 'codesigning':
      return 'OS_REASON_CODESIGNING';
  }
};

/** The lines of `launchctl print` (`last terminating signal` as seen on macOS 26). */
export const exitLine = (exit: LastExit | undefined): string => {
  switch (exit?.kind) {
    case undefined:
      return 'last exit code = (never exited)';
    case 'code':
      return `last exit code = ${exitText(exit)}`;
    case 'signal':
      return `last terminating signal = ${exitText(exit)}`;
    case 'codesigning':
      return `last exit reason = ${exitText(exit)}`;
  }
};

/** The second column of `launchctl list`: a signal is negative. */
export const exitStatus = (exit: LastExit | undefined): number => {
  switch (exit?.kind) {
    case undefined:
      return 0;
    case 'code':
      return exit.code;
    case 'signal':
      return -numberOf(exit.signal);
    case 'codesigning':
      return -numberOf('SIGKILL');
  }
};

const signals = Object.entries(constants.signals) as readonly (readonly [NodeJS.Signals, number])[];

/** `TERM`, `SIGTERM`, `term` and `15` are equal. */
export const signalOf = (text: string): NodeJS.Signals | undefined => {
  const name = text.toUpperCase().replace(/^SIG/, '');
  return signals.find(([signal, number]) => signal === `SIG${name}` || String(number) === name)?.[0];
};
