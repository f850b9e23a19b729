/** The keys of launchd.plist(5) that we use. */
export interface LaunchdJob {
  readonly Label: string;
  /** The program by its full path, and its arguments, never quoted for a shell (INC-226). */
  readonly ProgramArguments: readonly string[];
  readonly UserName?: string;
  readonly EnvironmentVariables?: Readonly<Record<string, string>>;
  readonly WorkingDirectory?: string;
  readonly RunAtLoad?: boolean;
  readonly KeepAlive?: boolean;
  /** Seconds between two starts; launchd never goes below 10. */
  readonly ThrottleInterval?: number;
  /** Seconds between two runs of a job that ends by itself. */
  readonly StartInterval?: number;
  /** Must be writable by the user, or the job never starts (EX_CONFIG 78). */
  readonly StandardOutPath?: string;
  readonly StandardErrorPath?: string;
  /** Seconds between SIGTERM and SIGKILL. */
  readonly ExitTimeOut?: number;
  readonly ProcessType?: 'Background' | 'Standard' | 'Adaptive' | 'Interactive';
  /** Processes that the job started live on when the job itself ends. */
  readonly AbandonProcessGroup?: boolean;
}

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value };

// XML 1.0 cannot represent these, even escaped: launchd would refuse the whole file.
const invalidInXML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** Text for XML: an unescaped `&` would make the file unloadable, with no other symptom (INC-226). */
const escapeXML = (text: string): string => {
  if (invalidInXML.test(text)) throw new TypeError(`${JSON.stringify(text)} cannot be written into a property list`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
};

const isList = (value: object): value is readonly string[] => Array.isArray(value);

/** Keys are sorted, so that the same job gives the same bytes. */
const element = (value: Value, indent: string): string => {
  if (typeof value === 'string') return `<string>${escapeXML(value)}</string>`;
  if (typeof value === 'boolean') return `<${value}/>`;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is no whole number for a property list`);
    return `<integer>${value}</integer>`;
  }
  const inner = `${indent}\t`;
  const lines = isList(value)
    ? value.map((item) => element(item, inner))
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => `<key>${escapeXML(key)}</key>\n${inner}${element(item, inner)}`);
  const name = isList(value) ? 'array' : 'dict';
  return `<${name}>\n${lines.map((line) => `${inner}${line}\n`).join('')}${indent}</${name}>`;
};

/**
 * The property list of a job. The same job always gives the same bytes: hosts compare them to decide between a restart and a new
 * registration, whose number macOS limits (INC-09).
 */
export const renderPlist = (job: LaunchdJob): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    element({ ...job }, ''),
    '</plist>',
    '',
  ].join('\n');
