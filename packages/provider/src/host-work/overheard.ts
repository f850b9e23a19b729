import type { HostJob } from './host-work.ts';

/** The same job, and the secrets that it is told on the way: so that they are taken out of whatever comes of it. */
export const overheard = (job: HostJob): { readonly job: HostJob; readonly secrets: readonly string[] } => {
  const secrets: string[] = [];
  const ask = job.task.kind === 'converge' ? job.task.lateSecrets?.actionsRunnerToken : undefined;
  if (job.task.kind !== 'converge' || ask === undefined) return { job, secrets };
  const actionsRunnerToken: typeof ask = async (signal) => {
    const answer = await ask(signal);
    if (answer.kind === 'known') secrets.push(answer.secret);
    return answer;
  };
  return { job: { ...job, task: { ...job.task, lateSecrets: { actionsRunnerToken } } }, secrets };
};
