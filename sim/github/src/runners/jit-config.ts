import { fieldsOf } from '../requests/body.ts';
import type { RunnerRecord } from './runner.ts';

/**
 * What `run.sh --jitconfig` takes: files of the runner's folder by name, each in base64, and the whole in base64 once more
 * (`actions/runner`, `ConfigurationStore`). Nobody but a runner should look into it.
 */
export const encodeJitConfig = (runner: RunnerRecord, url: string): string => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  return encode({
    '.runner': encode({
      AgentId: String(runner.id),
      AgentName: runner.name,
      Ephemeral: 'True',
      GitHubUrl: `${url}/${runner.owner}`,
      PoolId: String(runner.groupID),
      ServerUrl: url,
      UseV2Flow: 'True',
      WorkFolder: runner.workFolder,
    }),
    '.credentials': encode({ Scheme: 'OAuth', Data: { ClientId: runner.secret } }),
  });
};

/** The runner's secret that such a text carries, or nothing. */
export const secretIn = (encoded: string): string | undefined => {
  const decode = (text: unknown): Readonly<Record<string, unknown>> =>
    (typeof text === 'string' ? fieldsOf(Buffer.from(text, 'base64').toString()) : undefined) ?? {};
  const data = decode(decode(encoded)['.credentials'])['Data'];
  const secret = typeof data === 'object' && data !== null ? (data as Record<string, unknown>)['ClientId'] : undefined;
  return typeof secret === 'string' ? secret : undefined;
};
