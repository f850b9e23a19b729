import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mac } from '@tartan/sim-mac';
import { quote, shellCommand } from '../engine/compose-script.ts';
import { type StepRun, stepRun } from '../engine/execute-step.ts';
import type { HostSecrets, HostSpec } from '../host-spec.ts';
import type { Step } from '../steps/step.ts';

/** The suffix of the draft of `write_file`: a cut while the draft is changed equals a cut before its rename. */
const draft = '.tartan-new';

/** Commands that change a host, with the argument patterns that change nothing: loops repeat those. */
const changing: Readonly<Record<string, string>> = {
  // With an argument `cat` reads a file; without one it writes its input.
  cat: '?*',
  chmod: `*${draft}`,
  chown: `*${draft}`,
  codesign: '-v* | -d*',
  cp: '',
  defaults: 'read*',
  gzip: '',
  kill: '-0*',
  killall: '',
  launchctl: 'print* | list* | blame* | manager*',
  ln: '',
  mkdir: '',
  mv: '',
  pfctl: '*-s*',
  pmset: '-g*',
  rm: `*${draft}`,
  rmdir: '',
  scutil: '--get* | --dns*',
  sudo: '',
  tailscale: 'status* | ip* | version*',
  tar: 't*',
  tee: '',
  touch: '',
};

/**
 * A copy of the script that kills itself and its children right before its Nth command that changes something. Every such command becomes a
 * function that counts. The count is in a file because pipes and `$(…)` are separate processes.
 * Caveat: tools that are called by their path are not counted. The script must have its own process group, as under sshd.
 */
const cutBefore = (
  script: string,
  nth: number,
  counter: string,
  only: readonly string[] = Object.keys(changing),
): string => {
  const counted = Object.entries(changing).filter(([tool]) => only.includes(tool));
  const functions = counted.map(([tool, looking]) => {
    const letThrough = looking === '' ? '' : `case "$*" in ${looking}) ;; *) cut_here ;; esac; `;
    return `${tool}() { ${letThrough || 'cut_here; '}command ${tool} "$@"; }`;
  });
  return `cut_here() {
  printf x >>${quote(counter)}
  IFS= read -r cut_count <${quote(counter)} || true
  [ \${#cut_count} -lt ${nth} ] || command kill -9 0
}
${functions.join('\n')}
${script}`;
};

/**
 * Tests every fifth place, since neighbouring places mostly leave the same state; `TARTAN_CRASH=all` tests each. An odd stride, so that
 * tests that alternate by the number of the place still alternate.
 */
export const stride = process.env['TARTAN_CRASH'] === 'all' ? 1 : 5;

interface CutOptions {
  /** Cuts only before these tools, where one run takes long. */
  readonly only?: readonly string[];
  readonly prepare: (nth: number) => Promise<Mac>;
  readonly check: (mac: Mac, nth: number) => Promise<void>;
}

/**
 * Runs a step repeatedly, cut before one command after the other that changes something, until a run is not cut any more.
 * `prepare` creates the initial state; `check` verifies the state after a cut and completes the step.
 * Returns the number of places where it can be cut.
 */
export const cutEverywhere = <Intent extends object>(
  step: Step<Intent>,
  options: CutOptions & {
    /** The same for all cuts, or one for each. */
    readonly spec: HostSpec | ((nth: number) => HostSpec);
    readonly secrets?: HostSecrets;
  },
): Promise<number> => {
  const runOptions = { verb: 'converge', hash: 'a hash', lockOwner: '', idle: true } as const;
  return cutScriptEverywhere((nth) => {
    const spec = typeof options.spec === 'function' ? options.spec(nth) : options.spec;
    return { ...stepRun(step, spec, options.secrets ?? {}, runOptions), asRoot: step.unprivileged !== true };
  }, options);
};

/** The same for a script that belongs to no step. */
export const cutScriptEverywhere = async (
  runOf: (nth: number) => StepRun & { readonly asRoot: boolean },
  options: CutOptions,
): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-cut-'));
  try {
    for (let nth = 1; ; nth += stride) {
      const mac = await options.prepare(nth);
      const { script, payload, asRoot } = runOf(nth);
      const counter = join(folder, String(nth));
      const command = shellCommand(cutBefore(script, nth, counter, options.only), { asRoot });
      const { code, stderr } = await mac.run(command, { stdin: payload ?? '' });
      const passed = existsSync(counter) ? readFileSync(counter, 'utf8').length : 0;
      if (passed < nth) {
        if (code !== 0) throw new Error(`the run that was not cut failed: ${stderr}`);
        return passed;
      }
      await options.check(mac, nth);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
