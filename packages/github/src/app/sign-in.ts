import { createSecret, type Secret } from '@tartan/kube';
import { exchange, type Line, readAnswer } from '../http/exchange.ts';
import { operations } from '../http/operations.ts';
import { isProblem, noInstallation, refusedApp, refusedRequest, suspended } from '../problems.ts';
import type { GitHubApp, Problem } from '../runner-service.ts';
import { tokenAnswer } from '../wire/answers.ts';
import { assertionOf } from './assertion.ts';
import type { AccessToken } from './tokens.ts';

/** A new token of the installation, which is good for an hour. */
export const signIn = async (app: GitHubApp, line: Line): Promise<AccessToken | Problem> => {
  const what = 'let the App in';
  const token = tryAssertion(app, line.clock.now());
  if (token === undefined) return refusedApp('its private key cannot be read');
  const parameters = { installation_id: app.installationID };
  const question = { parameters, token, etag: undefined, signal: undefined };
  const heard = await exchange(operations.accessToken, what, question, line);
  if (isProblem(heard)) return heard;
  if (heard.status === 401) return refusedApp(heard.said);
  if (heard.status === 403) return suspended(heard.said);
  if (heard.status === 404) return noInstallation();
  if (heard.status !== 201) return refusedRequest(what, heard.status, heard.said);
  const read = readAnswer(tokenAnswer, heard.body, what);
  return isProblem(read) ? read : read.value;
};

/** A key that nobody has checked may be anything. */
const tryAssertion = (app: GitHubApp, now: number): Secret | undefined => {
  try {
    return createSecret(assertionOf(app, now));
  } catch {
    return undefined;
  }
};
