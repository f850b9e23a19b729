import { spawn } from 'node:child_process';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { normalise } from './normalise.ts';
import { detailed, type DetailedStep, type KubectlScript, type Step, substitute, words } from './script.ts';

/** A server to run the script against, and kubectl's cache folder for it. */
export interface KubectlTarget {
  kubectl: string;
  kubeconfig: string;
  home: string;
}

/** The result of a step, normalised. */
export interface Outcome {
  command: string;
  exit: number | string;
  output: string;
  errors: string;
}

/** Far more than a step takes on a busy machine. */
const stepMilliseconds = 600_000;

interface Ended {
  exit: number | string;
  output: string;
  errors: string;
}

/** Runs a script and returns the outcome of each step, in order. */
export const runScript = async (script: KubectlScript, target: KubectlTarget): Promise<Outcome[]> => {
  const variables = new Map<string, string>();
  const opening: Step[] = [
    `create namespace ${script.namespace}`,
    'wait --for=create serviceaccount/default configmap/kube-root-ca.crt --timeout=300s',
  ];
  const outcomes: Outcome[] = [];
  for (const step of [...opening, ...script.steps]) {
    outcomes.push(...(await playStep(detailed(step), script, target, variables)));
  }
  return outcomes;
};

const playStep = async (
  step: DetailedStep,
  script: KubectlScript,
  target: KubectlTarget,
  variables: Map<string, string>,
): Promise<Outcome[]> => {
  const command = {
    args: [`--namespace=${script.namespace}`, ...words(substitute(step.run, variables))],
    input: step.input === undefined ? undefined : substitute(step.input, variables),
  };
  if (step.during !== undefined) {
    const { before, watched, steps } = step.during;
    const watch = startKubectl(target, command.args, command.input);
    const inner: Outcome[] = [];
    await watch.printed(before);
    for (const each of steps) inner.push(...(await playStep(detailed(each), script, target, variables)));
    if (watched === undefined) return [...inner, outcomeOf(step, await watch.ended)];
    await watch.printed(watched);
    watch.interrupt();
    return [...inner, outcomeOf(step, { ...(await watch.ended), exit: 'interrupted' })];
  }
  const ended = await eventually(`${step.run} prints ${String(step.until)}`, async () => {
    const seen = await startKubectl(target, command.args, command.input).ended;
    return (step.until === undefined || step.until.test(seen.output)) && seen;
  });
  if (step.capture !== undefined) variables.set(step.capture, ended.output.trim());
  return [outcomeOf(step, step.capture === undefined ? ended : { ...ended, output: '<captured>' })];
};

const outcomeOf = (step: DetailedStep, { exit, output, errors }: Ended): Outcome => {
  const select = (text: string): string => {
    let lines = normalise(text).split('\n');
    const { lines: wanted } = step;
    if (wanted !== undefined) lines = lines.filter((line) => wanted.test(line));
    return (step.unordered === true ? lines.sort() : lines).join('\n');
  };
  return { command: titleOf(step), exit, output: select(output), errors: select(errors) };
};

const titleOf = ({ run, input }: DetailedStep): string =>
  input === undefined ? run : `${run} <<< ${input.replace(/\s+/g, ' ').trim().slice(0, 150)}`;

interface Running {
  /** Resolves when so many lines have been printed, or the command has ended. */
  printed(lines: number): Promise<void>;
  interrupt(): void;
  ended: Promise<Ended>;
}

const startKubectl = (target: KubectlTarget, args: readonly string[], input: string | undefined): Running => {
  const child = spawn(target.kubectl, args, {
    cwd: target.home,
    env: {
      PATH: process.env['PATH'],
      HOME: target.home,
      KUBECONFIG: target.kubeconfig,
      KUBERC: 'off',
      KUBECTL_EXTERNAL_DIFF: 'diff -u -N',
      LC_ALL: 'C',
      TZ: 'UTC',
    },
  });
  const seen = { output: '', errors: '', isOver: false };
  child.stdout.on('data', (chunk: Buffer) => (seen.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (seen.errors += chunk.toString()));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const cancelKill = systemClock.after(stepMilliseconds, () => child.kill('SIGKILL'));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      cancelKill();
      seen.isOver = true;
      resolve({ exit: code ?? String(signal), output: seen.output, errors: seen.errors });
    });
  });
  return {
    ended,
    interrupt: () => child.kill('SIGINT'),
    printed: async (lines) => {
      await eventually(
        `${args.join(' ')} has printed ${lines} lines`,
        () => seen.output.split('\n').length > lines || seen.isOver,
      );
    },
  };
};
