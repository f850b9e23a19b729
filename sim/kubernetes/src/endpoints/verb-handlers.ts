import { type AdmissionAttributes, admit } from '../admission/admission.ts';
import type { User } from '../authentication/user.ts';
import { badRequest, methodNotAllowed, notFound, type Status } from '../errors/api-error.ts';
import { type ApiRequest, type ApiResponse, jsonResponse } from '../http-messages.ts';
import type { KubeObject } from '../object.ts';
import { applyPatch, patchTypeOf } from '../patch/apply-patch.ts';
import { undecodableResult } from '../patch/patch-errors.ts';
import type { Resource, Subresource, View, WriteContext } from '../resource.ts';
import { decodeDeleteOptions, decodeObject, decodePatch } from '../serialization/request-body.ts';
import { assertSameNamespace, createObject } from '../store/create.ts';
import { deleteObject } from '../store/delete.ts';
import { parseListOptions } from '../store/list-options.ts';
import { listObjects } from '../store/list.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { type Core, read } from '../store/store.ts';
import { assertSameUid, updateObject, updateView, viewOf } from '../store/update.ts';
import { watchObjects } from '../store/watch.ts';
import { isDryRun, parseDeleteOptions } from './delete-options.ts';
import {
  decodeInto,
  enforceFieldValidation,
  type Expected,
  fieldValidationOf,
  patchTypeError,
  printPatch,
  warningHeader,
} from './field-validation.ts';
import type { RequestInfo } from './request-info.ts';
import { respondList, respondObject, respondStatus, respondWatch } from './response-writers.ts';

/** One request, with its resource. */
export interface Operation {
  request: ApiRequest;
  route: RequestInfo;
  resource: Resource;
  user: User;
  core: Core;
  api: LoopbackClient;
}

const contextOf = (operation: Operation, kind: string): WriteContext => ({
  api: operation.api,
  user: operation.user,
  dryRun: isDryRun(operation.request.query.getAll('dryRun'), kind),
});

/** The body as an object of the expected kind, with warnings for the response. */
const bodyOf = (
  operation: Operation,
  expected: Expected,
  options: string,
): { object: KubeObject; warnings: string[] } => {
  const { request } = operation;
  const validation = fieldValidationOf(request.query, options);
  const decoded = decodeObject(request.body, request.headers['content-type'], expected);
  const conformed = decodeInto(decoded.object, decoded.duplicates, expected);
  return { object: conformed.object, warnings: enforceFieldValidation(conformed, validation, expected) };
};

const assertName = (object: KubeObject, name: string): void => {
  if (!object.metadata.name) object.metadata.name = name;
  if (object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
  }
};

const respond = (
  operation: Operation,
  code: number,
  object: KubeObject,
  warnings: readonly string[] = [],
): ApiResponse =>
  respondObject(
    operation.request,
    operation.resource,
    code,
    object,
    operation.core.clock.now(),
    warningHeader(warnings),
  );

/** Runs the admission checks of a write. */
const assertAdmitted = (
  { resource, route, user, api }: Operation,
  write: Pick<AdmissionAttributes, 'operation' | 'object' | 'old'>,
): void => {
  const { namespace, name: pathName, subresource } = route;
  const name = pathName || (write.object?.metadata.name ?? '');
  admit({ resource, subresource, namespace, name, pathName, ...write }, user, api);
};

export const get = (operation: Operation): ApiResponse => {
  const { core, resource, route } = operation;
  const object = read(core, resource, route.namespace, route.name);
  if (!object) throw notFound(resource, route.name);
  return respond(operation, 200, object);
};

export const list = (operation: Operation): ApiResponse => {
  const { core, resource, route, request } = operation;
  const options = parseListOptions(request.query, resource, false);
  return respondList(request, resource, listObjects(core, resource, route.namespace, options), core.clock.now());
};

export const watch = (operation: Operation): ApiResponse => {
  const { core, resource, route, request } = operation;
  const query = new URLSearchParams(request.query);
  if (route.name !== '') query.set('fieldSelector', `metadata.name=${route.name}`);
  const options = parseListOptions(query, resource, true);
  const events = watchObjects(core, resource, route.namespace, options, request.signal);
  return respondWatch(request, resource, events, () => core.clock.now());
};

export const create = async (operation: Operation): Promise<ApiResponse> => {
  const { core, resource, route } = operation;
  const context = contextOf(operation, 'CreateOptions');
  const { object, warnings } = bodyOf(operation, resource, 'CreateOptions');
  if (resource.review) {
    assertSameNamespace(resource, object, route.namespace);
    if (resource.namespaced) object.metadata.namespace = route.namespace;
    return jsonResponse(201, await resource.review(object, context), warningHeader(warnings));
  }
  assertAdmitted(operation, { operation: 'CREATE', object });
  return respond(operation, 201, createObject(core, resource, route.namespace, object, context), warnings);
};

export const update = (operation: Operation): ApiResponse => {
  const { core, resource, route } = operation;
  const context = contextOf(operation, 'UpdateOptions');
  const { object, warnings } = bodyOf(operation, resource, 'UpdateOptions');
  assertName(object, route.name);
  const old = read(core, resource, route.namespace, route.name);
  assertSameUid(resource, object, old);
  assertAdmitted(operation, { operation: old ? 'UPDATE' : 'CREATE', object, old });
  const written = updateObject(core, resource, route.namespace, object, context);
  return respond(operation, written.created ? 201 : 200, written.object, warnings);
};

/** The current object with the client's patch, validated as strictly as a body. */
const patched = (
  operation: Operation,
  current: KubeObject,
  expected: Expected,
): { object: KubeObject; warnings: string[] } => {
  const { request } = operation;
  const type = patchTypeOf(request.headers['content-type'] ?? '', expected.custom);
  const validation = fieldValidationOf(request.query, 'PatchOptions');
  const { value, duplicates } = decodePatch(request.body, type);
  const result = applyPatch(type, current, value, expected.schema);
  const conformed = decodeInto(result, duplicates, expected);
  const { object, strictErrors, typeError } = conformed;
  if (typeError !== undefined)
    throw undecodableResult(printPatch(type, value, result), patchTypeError(type, typeError));
  if (validation === 'Strict' && strictErrors.length > 0) {
    throw undecodableResult(printPatch(type, value, result), `strict decoding error: ${strictErrors.join(', ')}`);
  }
  return { object, warnings: validation === 'Ignore' ? [] : strictErrors };
};

export const patch = (operation: Operation): ApiResponse => {
  const { core, resource, route } = operation;
  const context = contextOf(operation, 'PatchOptions');
  const current = read(core, resource, route.namespace, route.name);
  if (!current) throw notFound(resource, route.name);
  const { object, warnings } = patched(operation, current, resource);
  assertName(object, route.name);
  assertAdmitted(operation, { operation: 'UPDATE', object, old: current });
  return respond(operation, 200, updateObject(core, resource, route.namespace, object, context).object, warnings);
};

const deleteStatus = (resource: Resource, object: KubeObject): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    name: object.metadata.name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: object.metadata.uid,
  },
});

const deleteOptionsOf = (operation: Operation) => {
  const { request } = operation;
  const { body, headers, query } = request;
  return parseDeleteOptions(body.length > 0 ? decodeDeleteOptions(body, headers['content-type']) : undefined, query);
};

export const remove = (operation: Operation): ApiResponse => {
  const { core, resource, route, request } = operation;
  const options = deleteOptionsOf(operation);
  const context = { ...contextOf(operation, 'DeleteOptions'), dryRun: options.dryRun ?? false };
  assertAdmitted(operation, { operation: 'DELETE' });
  const deleted = deleteObject(core, resource, route.namespace, route.name, options, context);
  if (!deleted.gone || resource.strategy.returnsDeletedObject) return respond(operation, 200, deleted.object);
  return respondStatus(request, resource, 200, deleteStatus(resource, deleted.object));
};

export const removeCollection = (operation: Operation): ApiResponse => {
  const { core, resource, route, request } = operation;
  const options = deleteOptionsOf(operation);
  const context = { ...contextOf(operation, 'DeleteOptions'), dryRun: options.dryRun ?? false };
  const listed = listObjects(core, resource, route.namespace, parseListOptions(request.query, resource, false));
  const items = listed.items.map(
    ({ metadata }) => deleteObject(core, resource, metadata.namespace ?? '', metadata.name, options, context).object,
  );
  return respondList(request, resource, { items, metadata: listed.metadata }, core.clock.now());
};

const viewContext = (operation: Operation, subresource: Subresource, view: View) => ({
  expected: {
    group: subresource.group,
    version: subresource.version,
    kind: subresource.kind,
    custom: operation.resource.custom && subresource.kind === operation.resource.kind,
    schema: view.schema,
  } satisfies Expected,
});

const readView = (operation: Operation, view: View): KubeObject => {
  const { core, resource, route } = operation;
  const parent = read(core, resource, route.namespace, route.name);
  if (!parent) throw notFound(resource, route.name);
  return view.read(parent);
};

/** A view of another kind has its own columns. */
const respondView = (
  operation: Operation,
  subresource: Subresource,
  object: KubeObject,
  warnings: readonly string[] = [],
): ApiResponse => {
  const { resource } = operation;
  const { columns } = subresource;
  const shown = columns ? { ...resource, strategy: { ...resource.strategy, columns } } : resource;
  return respond({ ...operation, resource: shown }, 200, object, warnings);
};

const onView = (operation: Operation, subresource: Subresource, view: View): ApiResponse => {
  const { request, core, resource, route } = operation;
  const { expected } = viewContext(operation, subresource, view);
  switch (request.method) {
    case 'GET':
      return respondView(operation, subresource, readView(operation, view));
    case 'PUT':
    case 'PATCH': {
      const put = request.method === 'PUT';
      const context = contextOf(operation, put ? 'UpdateOptions' : 'PatchOptions');
      const { object, warnings } = put
        ? bodyOf(operation, expected, 'UpdateOptions')
        : patched(operation, readView(operation, view), expected);
      assertName(object, route.name);
      const old = read(core, resource, route.namespace, route.name);
      assertAdmitted(operation, { operation: 'UPDATE', object, old });
      return respondView(
        operation,
        subresource,
        updateView(core, resource, view, route.namespace, object, context),
        warnings,
      );
    }
    default:
      throw methodNotAllowed();
  }
};

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch' };

/** A subresource is an action or a view of its parent. */
export const onSubresource = async (operation: Operation, subresource: Subresource): Promise<ApiResponse> => {
  const { request, resource, route } = operation;
  const verb = verbs[request.method];
  if (verb === undefined || !subresource.verbs.includes(verb)) throw methodNotAllowed();
  const { action, schema } = subresource;
  if (action && (verb === 'get' || verb === 'create')) {
    const hasBody = verb === 'create' && request.body.length > 0 && schema !== undefined;
    const body = hasBody
      ? bodyOf(operation, { ...subresource, custom: false, schema }, 'CreateOptions').object
      : undefined;
    if (verb === 'create') assertAdmitted(operation, { operation: 'CREATE', object: body });
    return action({
      verb,
      name: route.name,
      namespace: route.namespace,
      rest: route.rest,
      query: request.query,
      headers: request.headers,
      signal: request.signal,
      body,
      context: contextOf(operation, 'CreateOptions'),
    });
  }
  const view = viewOf(resource, subresource.name);
  if (!view) throw methodNotAllowed();
  return onView(operation, subresource, view);
};
