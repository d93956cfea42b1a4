-- The tables of a shared log, for psql as an administrator of the server (`roamkb share migrate`).
-- Each step is done once; to run all of it again changes nothing, and there is no way back.
\set ON_ERROR_STOP on
select 'create database roamkb encoding ''UTF8'' template template0'
  where not exists (select from pg_database where datname = 'roamkb') \gexec
\connect roamkb
set client_min_messages = warning;
-- whoever holds a transaction open keeps nobody waiting here for long
set lock_timeout = '20s';
begin;
-- agents add lines and read them, and make nothing
revoke create, temporary on database roamkb from public;
revoke create on schema public from public;
-- large objects are stored without a line, and nobody's name is on them
revoke execute on function lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) from public;
create schema if not exists roamkb;
create table if not exists roamkb.step (version int primary key, done_at timestamptz not null default now());
-- one that no agent's role can hold
lock table roamkb.step in share row exclusive mode;

do $step$ begin
  if exists (select from roamkb.step where version >= 1) then return; end if;
  if not exists (select from pg_roles where rolname = 'roamkb_agent') then create role roamkb_agent nologin; end if;
  create table roamkb.service (
    is_only bool primary key default true check (is_only),
    id uuid not null default gen_random_uuid(),
    -- another one once transactions are numbered anew
    epoch uuid not null default gen_random_uuid(),
    class text not null check (class in ('personal', 'work'))
  );
  create table roamkb.member (
    role name not null,
    project text not null check (project <> '' and length(project) <= 100),
    primary key (role, project)
  );
  create table roamkb.event (
    project text not null,
    id uuid not null,
    line text not null check (octet_length(line) <= 65536 and strpos(line, chr(10)) = 0 and strpos(line, chr(13)) = 0),
    sha256 bytea not null check (sha256 = sha256(convert_to(line, 'UTF8'))),
    xid xid8 not null default pg_current_xact_id(),
    pos bigint not null generated always as identity,
    -- whose lines they are, should a role be stolen
    inserted_by name not null default session_user,
    primary key (project, id)
  );
  create index on roamkb.event (project, xid, pos);
  create function roamkb.refuse_change() returns trigger language plpgsql as $refuse$ begin
    raise exception 'a line of a shared log is never changed or deleted';
  end $refuse$;
  create trigger only_added before update or delete on roamkb.event
    for each row execute function roamkb.refuse_change();
  create trigger never_emptied before truncate on roamkb.event execute function roamkb.refuse_change();
  alter table roamkb.event enable row level security;
  alter table roamkb.member enable row level security;
  create policy own on roamkb.member for select using (role = current_user);
  create policy readable on roamkb.event for select
    using (project in (select m.project from roamkb.member m where m.role = current_user));
  create policy addable on roamkb.event for insert
    with check (project in (select m.project from roamkb.member m where m.role = current_user));
  grant usage on schema roamkb to roamkb_agent;
  grant select on roamkb.step, roamkb.service, roamkb.member, roamkb.event to roamkb_agent;
  -- what orders and signs a line its writer can't choose
  grant insert (project, id, line, sha256) on roamkb.event to roamkb_agent;
  insert into roamkb.step values (1);
end $step$;

-- a server that was restored elsewhere begins to number its transactions again
do $restored$ begin
  if exists (select from roamkb.event where xid >= pg_snapshot_xmax(pg_current_snapshot())) then
    alter table roamkb.event disable trigger only_added;
    update roamkb.event set xid = pg_current_xact_id();
    alter table roamkb.event enable trigger only_added;
    update roamkb.service set epoch = gen_random_uuid();
  end if;
end $restored$;
