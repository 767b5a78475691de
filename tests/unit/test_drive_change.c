/* test_drive_change.c - what of a drive is not as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/drive_change.h"

static Rackbench__MemberDrive member(const char *path, const char *serial)
{
    Rackbench__MemberDrive m = RACKBENCH__MEMBER_DRIVE__INIT;
    m.path = (char *)path;
    m.serial = (char *)serial;
    return m;
}

static Rackbench__Drive drive(const char *model, const char *serial, const char *id)
{
    Rackbench__Drive d = RACKBENCH__DRIVE__INIT;
    d.path = (char *)"/dev/nvme0n1";
    d.model = (char *)model;
    d.serial = (char *)serial;
    d.id = (char *)id;
    d.has_diskseq = true;
    d.diskseq = 7;
    return d;
}

static void assert_change(const Rackbench__Drive *was, const Rackbench__Drive *is, const char *text)
{
    RB_AUTO(rb_free_str) char *change = rb_drive_change(was, is);
    if (text == NULL)
        assert_null(change);
    else
        assert_string_equal(change, text);
}

static void another_drive(void **state)
{
    (void)state;
    Rackbench__Drive a = drive("CM9-R", "A", "A"), b = drive("CM9-R", "B", "B");
    assert_change(&a, &a, NULL);
    assert_change(&a, &b, "it was CM9-R, S/N A, it is CM9-R, S/N B now");
    b = drive("PS1030", "A", "A");
    assert_change(&a, &b, "it was CM9-R, S/N A, it is PS1030, S/N A now");
    Rackbench__Drive file = drive(NULL, NULL, "loop:/a"), none = drive(NULL, NULL, NULL);
    assert_change(&file, &none, "it was loop:/a, it is a drive, no serial number now");
}

/* Another namespace of the same drive. */
static void another_namespace(void **state)
{
    (void)state;
    Rackbench__Drive a = drive("CM9-R", "A", "A"), b = a;
    a.wwid = (char *)"eui.01";
    b.wwid = (char *)"eui.02";
    assert_change(&a, &b, "it was eui.01, it is eui.02 now (CM9-R, S/N A)");
}

static void taken_away_and_back(void **state)
{
    (void)state;
    Rackbench__Drive a = drive("CM9-R", "A", "A"), b = a;
    b.diskseq = 8;
    assert_change(&a, &b, "it was taken away and came back (CM9-R, S/N A)");
    b.has_diskseq = false; /* an old kernel */
    assert_change(&a, &b, NULL);
}

static void another_member(void **state)
{
    (void)state;
    Rackbench__MemberDrive a = member("/dev/sda", "A"), b = member("/dev/sdb", "B"),
                           c = member("/dev/sdb", "C");
    Rackbench__MemberDrive *ab[] = {&a, &b}, *ac[] = {&a, &c};
    Rackbench__Drive was = drive(NULL, NULL, ""), is = was;
    was.member_drives = ab;
    is.member_drives = ac;
    was.n_member_drives = is.n_member_drives = 2;
    assert_change(&was, &was, NULL);
    assert_change(&was, &is,
                  "it lay on /dev/sda (S/N A), /dev/sdb (S/N B), it lies on /dev/sda (S/N A), "
                  "/dev/sdb (S/N C) now");
    is.n_member_drives = 1;
    assert_change(&was, &is,
                  "it lay on /dev/sda (S/N A), /dev/sdb (S/N B), it lies on /dev/sda (S/N A) now");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_drive),
        cmocka_unit_test(another_namespace),
        cmocka_unit_test(taken_away_and_back),
        cmocka_unit_test(another_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
