import { ScalewayError } from './scaleway-error.ts';

export interface Settings {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly projectID: string;
  readonly apiURL: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Checked here, as the SDK quotes a malformed secret key in its error. Returned as the SDK wants them: no slash at the end. */
export const checkSettings = (settings: Settings): Settings => {
  const apiURL = settings.apiURL.replace(/\/+$/, '');
  const wrong = [
    ...(/^SCW[A-Z0-9]{17}$/i.test(settings.accessKey) ? [] : ['the access key is not SCW and 17 letters or digits']),
    ...(uuid.test(settings.secretKey) ? [] : ['the secret key is not a UUID']),
    ...(uuid.test(settings.projectID) ? [] : ['the project ID is not a UUID']),
    ...(/^https?:$/.test(URL.parse(apiURL)?.protocol ?? '') ? [] : ['the API address is not an HTTP URL']),
  ];
  if (wrong.length === 0) return { ...settings, apiURL };
  throw new ScalewayError(
    `The settings for Scaleway are wrong: ${wrong.join('; ')}. Check SCW_ACCESS_KEY, SCW_SECRET_KEY, SCW_DEFAULT_PROJECT_ID and SCW_API_URL.`,
    { kind: 'invalid' },
  );
};
